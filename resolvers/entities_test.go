package resolvers_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
)

// representations returns a list of n products, as a gateway sends them.
func representations(n int) string {
	var all strings.Builder
	for i := range n {
		fmt.Fprintf(&all, `{__typename: "Product", id: "p%d"}`, i)
	}
	return "[" + all.String() + "]"
}

// Each representation is answered in its place: by the object it names, or by null if there is no
// such comment. Otherwise an error beside null says what to send instead.
func TestEntities(t *testing.T) {
	const c = `"c_00000000000000000000000000"`
	for _, row := range []struct{ representation, entity, err string }{
		{`{__typename: "Product", id: "p"}`, `{"__typename":"Product","id":"p","stats":{"total":25}}`, ""},
		{`{__typename: "Product", id: 7, name: "Cup", price: {amount: 1.5}}`, `{"__typename":"Product","id":"7","stats":{"total":25}}`, ""},
		{`{__typename: "Comment", id: ` + c + `}`, `{"__typename":"Comment","id":` + c + `,"rating":1}`, ""},

		{`{__typename: "Comment", id: "p"}`, "null", `\"p\"`},
		{`{__typename: "Product", id: ` + c + `}`, "null", "c_"},
		{`{__typename: "Product", id: ""}`, "null", "the product id is empty"},
		{`{__typename: "Product", id: "author:x"}`, "null", "author:"},
		{`{__typename: "Product"}`, "null", "a representation of a Product needs its id, a string"},
		{`{__typename: "Comment", id: null}`, "null", "a representation of a Comment needs its id, a string"},
		{`{__typename: "Product", id: {a: [1]}}`, "null", "needs its id"},
		{`{__typename: "Shop", id: "p"}`, "null", `__typename \"Product\" or \"Comment\"`},
		{`{__typename: 1, id: "p"}`, "null", `needs the __typename`},
		{`{}`, "null", `needs the __typename`},
		{`{__typename: "Author", id: "author:customer:1"}`, "null", "ask for the author of a comment"},
	} {
		synctest.Test(t, func(t *testing.T) {
			answer, _ := (&shop{}).ask(t, `{ _entities(representations: [{__typename: "Product", id: "first"}, `+row.representation+`]) {
				__typename ... on Product { id stats { total } } ... on Comment { id rating } ... on _Entity { ... on Author { name } } } }`)
			if want := `{"_entities":[{"__typename":"Product","id":"first","stats":{"total":25}},` + row.entity + `]}`; !strings.Contains(answer, `"data":`+want) {
				t.Errorf("%s: %s", row.representation, answer)
			}
			if failed := strings.Contains(answer, `"path":["_entities",1]`) && strings.Contains(answer, "BAD_INPUT"); failed != (row.err != "") || !strings.Contains(answer, row.err) {
				t.Errorf("%s: %s\nwant %s", row.representation, answer, row.err)
			}
		})
	}
}
