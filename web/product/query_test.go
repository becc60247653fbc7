package product

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/validator"
	"github.com/vektah/gqlparser/v2/validator/rules"
	"pgregory.net/rapid"

	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/internal/schematest"
)

// The operation and its variables are valid, whatever the state.
func TestOperationFitsTheSchema(t *testing.T) {
	schema := schematest.Load(t)
	document, errs := gqlparser.LoadQueryWithRules(schema, operation, rules.NewDefaultRules())
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	rapid.Check(t, func(t *rapid.T) {
		sent := must.Get(json.Marshal(states.Draw(t, "state").variables()))(t)
		var variables map[string]any
		must.Do(t, json.Unmarshal(sent, &variables))
		if _, err := validator.VariableValues(schema, document.Operations[0], variables); err != nil {
			t.Fatalf("%s: %v", sent, err)
		}
		declared := map[string]bool{}
		for _, variable := range document.Operations[0].VariableDefinitions {
			declared[variable.Variable] = true
		}
		for name := range variables {
			if !declared[name] {
				t.Fatalf("the operation has no variable %s", name)
			}
		}
	})
}

func TestVariables(t *testing.T) {
	for _, row := range []struct{ address, want, reason string }{
		{"/products/42", `{"id":"42","first":20,"highlights":true}`, "the bare page is the one with highlights"},
		{"/products/42?order=highest", `{"id":"42","first":20,"order":"HIGHEST_RATED","highlights":false}`, "by rating"},
		{"/products/42?page=3&order=oldest", `{"id":"42","first":20,"page":3,"order":"OLDEST_FIRST","highlights":false}`, "a page by number"},
		{
			"/products/42?rating=5&language=de&from=2024-05-01&to=2024-12-31",
			`{"id":"42","first":20,"filter":{"languages":["de"],"ratings":[5],"createdAfter":"2024-05-01T00:00:00Z","createdBefore":"2025-01-01T00:00:00Z"},` +
				`"facets":{"languages":["de"],"createdAfter":"2024-05-01T00:00:00Z","createdBefore":"2025-01-01T00:00:00Z"},"faceted":true,"highlights":false}`,
			"the last day is part of the range, the histogram counts all ratings, and languages are not counted by dates",
		},
		{"/products/42?language=de", `{"id":"42","first":20,"filter":{"languages":["de"]},"highlights":false}`, "without a rating, the list has the histogram's counts"},
		{"/products/42?rating=5", `{"id":"42","first":20,"filter":{"ratings":[5]},"chips":{"ratings":[5]},"narrowed":true,"highlights":false}`, "a rating alone does not change the histogram"},
		{"/products/42?after=abc", `{"id":"42","first":20,"after":"abc","highlights":false}`, "a page after a cursor"},
		{"/products/42?before=abc", `{"id":"42","last":20,"before":"abc","highlights":false}`, "a page before a cursor"},
	} {
		s, _ := parse(t, row.address)
		got := must.Get(json.Marshal(s.variables()))(t)
		if diff := cmp.Diff(row.want, string(got)); diff != "" {
			t.Errorf("%s: %s: %s", row.address, row.reason, diff)
		}
	}
}
