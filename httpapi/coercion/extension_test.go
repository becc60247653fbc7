package coercion_test

import (
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/validator/rules"

	"github.com/talkback/talkback/httpapi/coercion"
	"github.com/talkback/talkback/internal/commenttest"
	"github.com/talkback/talkback/internal/commenttest/must"
)

// executable is the schema of a server that executes nothing.
type executable struct{ graphql.ExecutableSchema }

func (executable) Schema() *ast.Schema { return schema }

// A value of a document outlives it, such as the id of a product in a cache. It keeps nothing else of
// the request in memory: 10,000 ids would keep as many texts.
func TestValuesOutliveTheirDocuments(t *testing.T) {
	const texts, size = 32, 1 << 20
	before := commenttest.Heap()
	var values []string
	for i := range texts {
		documents := graphql.MapCache[*ast.QueryDocument]{}
		e := &coercion.Extension{Documents: documents, Rules: func() *rules.Rules { return coercion.ValidationRules(rules.NewDefaultRules()) }}
		must.Do(t, e.Validate(executable{}))
		request := &graphql.RawParams{Query: `query ($v: ID = "default ` + strconv.Itoa(i) + `") { f(id: $v, text: "literal", draft: {language: "nested"}) } #` + strings.Repeat("x", size)}
		if err := e.MutateOperationParameters(t.Context(), request); err != nil {
			t.Fatal(err)
		}
		values = append(values, request.Variables["v"].(string))
		for _, argument := range documents[request.Query].Operations[0].SelectionSet[0].(*ast.Field).Arguments[1:] {
			values = append(values, argument.Value.Raw)
			for _, child := range argument.Value.Children {
				values = append(values, child.Value.Raw)
			}
		}
	}
	grown := commenttest.Heap() - before
	if len(values) != 4*texts || grown > texts*size/4 {
		t.Errorf("%d values keep %d bytes in memory", len(values), grown)
	}
	runtime.KeepAlive(values)
}
