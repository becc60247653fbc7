package resolvers_test

import (
	"slices"
	"testing"
	"testing/synctest"
)

// Comments are fetched by their ids with their texts only if a field needs these, in one call with
// texts and one without.
func TestTextsOfNodes(t *testing.T) {
	one := commentIDs(1)
	for _, row := range []struct {
		why, query string
		texts      []bool
	}{
		{"nodes", `{ nodes(ids: [` + commentIDs(40) + `]) { id ... on Comment { rating } } }`, []bool{false}},
		{"nodes with texts", `{ nodes(ids: [` + commentIDs(40) + `]) { id ... on Comment { t: text } } }`, []bool{true}},
		{"a comment", `{ comment(id: ` + one + `) { rating } }`, []bool{false}},
		{"a fragment", `{ node(id: ` + one + `) { ...C } } fragment C on Comment { text }`, []bool{true}},
		{"skipped", `{ comment(id: ` + one + `) { id text @skip(if: true) } }`, []bool{false}},
		{"both sorts", `{ a: comment(id: ` + one + `) { id } b: node(id: ` + one + `) { ... on Comment { text } } c: nodes(ids: [` + one + `]) { id } }`, []bool{false, true}},
	} {
		t.Run(row.why, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &shop{}
				s.mustAsk(t, row.query)
				if len(s.texts) == 2 && s.texts[0] {
					slices.Reverse(s.texts) // calls of both sorts are made in parallel
				}
				if !slices.Equal(s.texts, row.texts) {
					t.Errorf("asked for texts: %t, want %t", s.texts, row.texts)
				}
			})
		})
	}
}
