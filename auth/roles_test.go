package auth_test

import (
	"context"
	"testing"

	"github.com/talkback/talkback/auth"
	"github.com/talkback/talkback/comment"
)

// Where a token lists its roles, and what happens if it lists them otherwise.
func TestRolesOfSignedTokens(t *testing.T) {
	const all = comment.Moderator | comment.Merchant | comment.Shop
	const refused comment.Roles = 1 << 7
	for _, row := range []struct {
		why, claim, claims string
		want               comment.Roles
	}{
		{"a list", "roles", `"roles":["moderator"]`, comment.Moderator},
		{"all", "roles", `"roles":["shop","merchant","moderator"]`, all},
		{"others among them", "roles", `"roles":["cook","merchant","\ud83d",""]`, comment.Merchant},
		{"none", "roles", `"roles":[]`, 0},
		{"the claim is missing", "roles", `"Roles":["shop"],"ROLES":["shop"],"role":["shop"]`, 0},
		{"no claim is read", "", `"roles":["shop"],"":["shop"]`, 0},
		{"a role in another case", "roles", `"roles":["Moderator","SHOP","\u017fhop"]`, 0},
		{"a namespace, as Auth0 asks for", "https://shop.example/roles", `"https://shop.example/roles":["shop"]`, comment.Shop},
		{"the namespace is missing", "https://shop.example/roles", `"roles":["shop"]`, 0},
		{"a path, as Keycloak writes", "realm_access.roles", `"realm_access":{"roles":["merchant"]}`, comment.Merchant},
		{"a longer path", "resource_access.talkback.roles", `"resource_access":{"talkback":{"roles":["merchant"]},"x":{"roles":["shop"]}}`, comment.Merchant},
		{"a claim of that name before a path", "a.b", `"a":{"b":["shop"]},"a.b":["merchant"]`, comment.Merchant},
		{"an empty one of that name before a path", "a.b", `"a":{"b":["shop"]},"a.b":[]`, 0},
		{"a path that ends early", "realm_access.roles", `"realm_access":{}`, 0},
		{"a name inside of another claim", "roles", `"realm_access":{"roles":["shop"]}`, 0},

		{"one text", "roles", `"roles":"moderator"`, refused},
		{"null", "roles", `"roles":null`, refused},
		{"a number in the list", "roles", `"roles":["shop",1]`, refused},
		{"the list twice", "roles", `"roles":[],"roles":["shop"]`, refused},
		{"a path through a text", "a.b", `"a":"b"`, refused},
		{"a path through null", "a.b", `"a":null`, refused},
		{"a text of that name before a path", "a.b", `"a":{"b":["shop"]},"a.b":"shop"`, refused},
	} {
		g := guard(t, auth.Settings{Algorithm: "HS256", Key: secret, RolesClaim: row.claim})
		viewer := identify(t, g, rawToken(plainHeader, `{"sub":"ada","exp":1999999999,`+row.claims+`}`))
		got := viewer.Roles
		if viewer.CannotWriteReason != nil {
			got |= refused
		}
		if got != row.want || (viewer.CustomerID != nil) != (row.want != refused) {
			t.Errorf("%s: %s of %s: %+v, want %b", row.why, row.claim, row.claims, viewer, row.want)
		}
	}
}

// damaged has an item that is no proper comment.
type damaged struct{ store }

func (*damaged) Comment(context.Context, comment.ID) (comment.Comment, error) {
	return comment.Comment{}, comment.ErrImproper
}

// Only moderators delete an item that names no author, with a subject or without.
func TestWhoDeletesAnImproperComment(t *testing.T) {
	ada := "ada"
	for _, row := range []struct {
		viewer comment.Viewer
		writes int
	}{
		{comment.Viewer{}, 0},
		{comment.Viewer{CustomerID: &ada}, 0},
		{comment.Viewer{CustomerID: &ada, Roles: comment.Shop | comment.Merchant}, 0},
		{comment.Viewer{CustomerID: &ada, Roles: comment.Moderator}, 1},
		{comment.Viewer{Roles: comment.Moderator}, 1},
		{comment.Viewer{Open: true}, 1},
	} {
		there := &damaged{}
		w := auth.Service{Store: there, Authorizer: sender(row.viewer)}
		_, _, err := w.Delete(t.Context(), string(comment.IDOf(comment.FirstAt(written))), nil)
		if there.writes != row.writes || (err == nil) != (row.writes == 1) {
			t.Errorf("%+v: %d writes, %v; want %d", row.viewer, there.writes, err, row.writes)
		}
	}
}
