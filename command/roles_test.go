package command_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/talkback/talkback/auth"
	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/graph"
	"github.com/talkback/talkback/internal/commenttest"
	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/internal/dynamotest"
)

// caller is one kind of sender.
type caller struct {
	name    string
	service *api
	header  string // of requests, such as "Authorization: Bearer x"
	// viewer is what the field viewer says, and refusal the code of what the caller may not do.
	viewer, refusal string
}

// The names of callers with more rights than others.
const (
	theAuthor   = "the author"
	theToken    = "the moderators' token"
	aModerator  = "a moderator by a claim"
	aMerchant   = "a merchant"
	theShop     = "the shop's server"
	everyRole   = "all roles, and some of other services"
	thisMachine = "this machine, without tokens"
	aVisitor    = "a visitor"
	aNewVisitor = "a visitor to be"
)

// everyCaller returns one caller of each kind. The service reads roles as Keycloak writes them.
func everyCaller(t *testing.T) []caller {
	t.Helper()
	guard := must.Get(auth.New(t.Context(), auth.Settings{ModeratorToken: moderatorToken, Algorithm: "HS256", Key: sharedSecret, RolesClaim: "realm_access.roles"}))(t)
	a, open := newAPI(t, dynamotest.Dynoxide(t)), newAPI(t, dynamotest.Dynoxide(t))
	a.authorizer = guard
	a.useClient(a.session.Client)
	visiting := newAPI(t, dynamotest.Dynoxide(t))
	visitors := must.Get(auth.NewVisitors(guard, strings.Repeat("v", 32), nil))(t)
	visiting.authorizer = visitors
	visiting.useClient(visiting.session.Client)
	var made struct{ CreateVisitorToken struct{ Token string } }
	visiting.mustAsk(`mutation { createVisitorToken { token } }`, nil, &made)
	closed := newAPI(t, dynamotest.Dynoxide(t))
	closed.authorizer = auth.Closed{}
	closed.useClient(closed.session.Client)
	// in returns the header of a customer with roles.
	in := func(roles any) string {
		return bearer(signed(t, jwt.MapClaims{"sub": "u2", "exp": time.Now().Add(time.Hour).Unix(), "realm_access": map[string]any{"roles": roles}}))
	}
	const (
		customer = `{"customerId":"u2","isModerator":false,"mayWrite":true,"mayWriteAsAnyCustomer":false,"mayModerate":false,"mayReply":false,"cannotWriteReason":null}`
		required = `{"customerId":null,"isModerator":false,"mayWrite":false,"mayWriteAsAnyCustomer":false,"mayModerate":false,"mayReply":false,"cannotWriteReason":"TOKEN_REQUIRED"}`
		refused  = `{"customerId":null,"isModerator":false,"mayWrite":false,"mayWriteAsAnyCustomer":false,"mayModerate":false,"mayReply":false,"cannotWriteReason":"TOKEN_REFUSED"}`
		off      = `{"customerId":null,"isModerator":false,"mayWrite":false,"mayWriteAsAnyCustomer":false,"mayModerate":false,"mayReply":false,"cannotWriteReason":"WRITING_OFF"}`
	)
	return []caller{
		{"anonymous", a, "", required, "UNAUTHENTICATED"},
		{"a customer", a, bearer(tokenOf(t, "u2", time.Hour)), customer, "FORBIDDEN"},
		{"a customer with no roles", a, in([]string{}), customer, "FORBIDDEN"},
		{theAuthor, a, bearer(tokenOf(t, "u1", time.Hour)), strings.Replace(customer, "u2", "u1", 1), "FORBIDDEN"},
		{aMerchant, a, in([]string{"merchant"}), strings.Replace(customer, `"mayReply":false`, `"mayReply":true`, 1), "FORBIDDEN"},
		{aModerator, a, in([]string{"moderator"}), `{"customerId":"u2","isModerator":true,"mayWrite":true,"mayWriteAsAnyCustomer":false,"mayModerate":true,"mayReply":false,"cannotWriteReason":null}`, "FORBIDDEN"},
		{theToken, a, bearer(moderatorToken), `{"customerId":null,"isModerator":true,"mayWrite":true,"mayWriteAsAnyCustomer":true,"mayModerate":true,"mayReply":true,"cannotWriteReason":null}`, "FORBIDDEN"},
		{theShop, a, in([]string{"shop"}), strings.Replace(customer, `"mayWriteAsAnyCustomer":false`, `"mayWriteAsAnyCustomer":true`, 1), "FORBIDDEN"},
		{everyRole, a, in([]string{"billing", "shop", "moderator", "merchant", "moderator", ""}), `{"customerId":"u2","isModerator":true,"mayWrite":true,"mayWriteAsAnyCustomer":true,"mayModerate":true,"mayReply":true,"cannotWriteReason":null}`, "FORBIDDEN"},
		{"roles of other services", a, in([]string{"admin", "moderators", "moderator ", "SHOP", "Moderator", "shop,moderator"}), customer, "FORBIDDEN"},
		{"10,000 roles of other services", a, in(slices.Repeat([]string{"x"}, 10_000)), customer, "FORBIDDEN"},
		{"roles as one text", a, in("moderator"), refused, "UNAUTHENTICATED"},
		{"a role that is a number", a, in([]any{"moderator", 7}), refused, "UNAUTHENTICATED"},
		{"roles that are null", a, in(nil), refused, "UNAUTHENTICATED"},
		{"a moderator whose token has expired", a, bearer(signed(t, jwt.MapClaims{"sub": "u2", "exp": time.Now().Add(-time.Minute).Unix(), "realm_access": map[string]any{"roles": []string{"moderator"}}})), refused, "UNAUTHENTICATED"},
		{"another scheme than a bearer's", a, "Authorization: Basic dTE6cGFzcw==", required, "UNAUTHENTICATED"},
		{"a subject that is too long for an author", a, bearer(tokenOf(t, strings.Repeat("u", 129), time.Hour)), refused, "UNAUTHENTICATED"},
		{"a subject with a control character", a, bearer(tokenOf(t, "u\x01", time.Hour)), refused, "UNAUTHENTICATED"},
		{aVisitor, visiting, bearer(made.CreateVisitorToken.Token), required, "UNAUTHENTICATED"},
		{aNewVisitor, visiting, "", required, "UNAUTHENTICATED"},
		{thisMachine, open, "", `{"customerId":null,"isModerator":false,"mayWrite":true,"mayWriteAsAnyCustomer":true,"mayModerate":true,"mayReply":true,"cannotWriteReason":null}`, "FORBIDDEN"},
		{"a proxy, without tokens", open, "X-Forwarded-For: 203.0.113.7", off, "FORBIDDEN"},
		{"another name of this machine, without tokens", open, "Host: shop.example", off, "FORBIDDEN"},
		{"a server that listens to more, without tokens", closed, bearer(moderatorToken), off, "FORBIDDEN"},
	}
}

// deed is an action that some callers may not take.
type deed struct {
	name string
	// operation has $id for the comment, which u1 wrote, or an imported author if imported is set.
	operation string
	imported  bool
	may       []string
	status    comment.Status // of the comment
}

// deeds has at least one deed for each mutation.
var deeds = []deed{
	{
		"add a comment as u1", `mutation { addComment(input: {productId: "teapot", rating: 4, language: "en", text: "", author: {id: "u1", name: "A"}}) { userErrors { code } } }`, false,
		[]string{theAuthor, theToken, theShop, everyRole, thisMachine}, comment.Approved,
	},
	{
		"add a verified comment", `mutation { addComment(input: {productId: "teapot", rating: 4, language: "en", text: "", author: {id: "u1", name: "A"}, isVerifiedPurchase: true}) { userErrors { code } } }`, false,
		[]string{theToken, theShop, everyRole, thisMachine}, comment.Approved,
	},
	{
		"say that a purchase is verified", `mutation { editComment(input: {id: "$id", version: 1, isVerifiedPurchase: true}) { userErrors { code } } }`, false,
		[]string{theToken, aModerator, theShop, everyRole, thisMachine}, comment.Approved,
	},
	{
		"edit the comment of a customer", `mutation { editComment(input: {id: "$id", version: 1, text: "Edited."}) { userErrors { code } } }`, false,
		[]string{theAuthor, theToken, aModerator, theShop, everyRole, thisMachine}, comment.Approved,
	},
	{
		"edit an imported comment", `mutation { editComment(input: {id: "$id", version: 1, text: "Edited."}) { userErrors { code } } }`, true,
		[]string{theToken, aModerator, everyRole, thisMachine}, comment.Approved,
	},
	{
		"delete the comment of a customer", `mutation { deleteComment(input: {id: "$id"}) { userErrors { code } } }`, false,
		[]string{theAuthor, theToken, aModerator, theShop, everyRole, thisMachine}, comment.Approved,
	},
	{
		"delete an imported comment", `mutation { deleteComment(input: {id: "$id"}) { userErrors { code } } }`, true,
		[]string{theToken, aModerator, everyRole, thisMachine}, comment.Approved,
	},
	{
		"reply to a comment", `mutation { replyToComment(input: {id: "$id", text: "Thank you.", name: "Shop"}) { userErrors { code } } }`, true,
		[]string{theToken, aMerchant, everyRole, thisMachine}, comment.Approved,
	},
	{
		"delete a reply", `mutation { deleteReply(input: {id: "$id"}) { userErrors { code } } }`, false,
		[]string{theToken, aMerchant, everyRole, thisMachine}, comment.Approved,
	},
	{
		"report a comment", `mutation { reportComment(input: {id: "$id", reason: SPAM}) { userErrors { code } } }`, true,
		[]string{"a customer", "a customer with no roles", theAuthor, aMerchant, aModerator, theShop, everyRole, "roles of other services", "10,000 roles of other services"}, comment.Approved,
	},
	{
		"vote about a comment", `mutation { voteOnComment(input: {id: "$id", vote: HELPFUL}) { userErrors { code } } }`, true,
		[]string{"a customer", "a customer with no roles", theAuthor, aMerchant, aModerator, theShop, everyRole, "roles of other services", "10,000 roles of other services", aVisitor}, comment.Approved,
	},
	{
		"become a visitor", `mutation { createVisitorToken { token expiresAt } }`, false, []string{aVisitor, aNewVisitor}, comment.Approved,
	},
	{
		"approve a comment", `mutation { approveComment(input: {id: "$id", version: 1}) { userErrors { code } } }`, false,
		[]string{theToken, aModerator, everyRole, thisMachine}, comment.Pending,
	},
	{
		"reject a comment", `mutation { rejectComment(input: {id: "$id", version: 1, reason: SPAM}) { userErrors { code } } }`, true,
		[]string{theToken, aModerator, everyRole, thisMachine}, comment.Approved,
	},
	{
		"decide about several comments", `mutation { decideComments(input: {decisions: [{id: "$id", version: 1}]}) { userErrors { code } results { userErrors { code } } } }`, false,
		[]string{theToken, aModerator, everyRole, thisMachine}, comment.Pending,
	},
	{
		"erase a customer", `mutation { eraseAuthor(input: {customerId: "$id"}) { userErrors { code } } }`, false,
		[]string{theToken, aModerator, everyRole, thisMachine}, comment.Approved,
	},
	{
		"take the comment of a customer back", `mutation { withdrawComment(input: {id: "$id", version: 1}) { userErrors { code } } }`, false,
		[]string{theAuthor, theToken, theShop, everyRole, thisMachine}, comment.Approved,
	},
}

// Each kind of caller may do exactly its deeds. A new field or mutation for some callers is a row
// of deeds.
func TestWhatEachCallerMayDo(t *testing.T) {
	t.Parallel()
	callers, r := everyCaller(t), commenttest.Rand(t)
	for _, c := range callers {
		a := c.service
		a.header = c.header
		got := a.ask(`{ viewer { customerId isModerator mayWrite mayWriteAsAnyCustomer mayModerate mayReply cannotWriteReason } }`, nil)
		if want := `{"viewer":` + c.viewer + `}`; string(got.Data) != want {
			t.Errorf("%s: %s %v\nwant %s", c.name, got.Data, got.Errors, want)
		}
		for _, d := range deeds {
			c.try(t, r, d)
		}
		checkSecrets(t, a.log.String(), c.header)
		if a.log.Len() > 0 {
			t.Errorf("a refusal is no news for the log:\n%s", a.log)
		}
	}
	for _, d := range deeds {
		for _, name := range d.may {
			if !slices.ContainsFunc(callers, func(c caller) bool { return c.name == name }) {
				t.Errorf("%s: there is no caller %q", d.name, name)
			}
		}
	}
}

// try lets a caller attempt a deed with a new comment. If it is refused, nothing changes.
func (c caller) try(t *testing.T, r *rand.Rand, d deed) {
	t.Helper()
	a := c.service
	there := commenttest.Random(r, "teapot")
	there.Author, there.Version, there.UpdatedAt = comment.Author{ID: "u1", Name: "Ada", Imported: d.imported}, 1, nil
	there.Verified = false
	if strings.Contains(d.operation, "deleteReply") {
		there.Reply = &comment.Reply{Text: "Thank you.", Name: "Shop", CreatedAt: there.CreatedAt(), Version: 1}
	}
	if there.Status = d.status; d.status == comment.Pending {
		there.Moderation = &comment.Moderation{Held: []comment.HoldReason{comment.HeldAlways}, Since: there.CreatedAt()}
	}
	a.load(there)
	before := scan(t, a.session.Client, a.session.Table, "")
	got := a.ask(strings.ReplaceAll(d.operation, "$id", string(there.ID)), nil)
	changed := !reflect.DeepEqual(before, scan(t, a.session.Client, a.session.Table, ""))
	a.delete(there.ID)
	want := c.refusal
	if slices.Contains(d.may, c.name) {
		want = ""
	}
	said := must.Get(json.Marshal(got.Errors))(t)
	code := ""
	if len(got.Errors) > 0 {
		code = fmt.Sprint(got.Errors[0].Extensions["code"])
	}
	if d.name == "become a visitor" { // changes nothing, and needs no token
		if want != "" {
			want = "FORBIDDEN"
		}
		changed = changed || want == "" && strings.Contains(string(got.Data), `"token":"ey`)
		got.Data = append(got.Data, `"userErrors":[]`...)
	}
	if code != want || changed != (want == "") || want == "" && !strings.Contains(string(got.Data), `"userErrors":[]`) {
		t.Errorf("%s by %s: %s %s, changed: %v; want %q", d.name, c.name, got.Data, said, changed, want)
	}
	checkSecrets(t, string(said), c.header)
}

// A new mutation needs a row that says who may send it.
func TestEveryMutationHasItsCallers(t *testing.T) {
	t.Parallel()
	for _, field := range graph.NewExecutableSchema(graph.Config{}).Schema().Mutation.Fields {
		if !slices.ContainsFunc(deeds, func(d deed) bool { return strings.Contains(d.operation+"(", "{ "+field.Name) }) {
			t.Errorf("deeds have no row for the mutation %s", field.Name)
		}
	}
}
