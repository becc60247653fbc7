package web

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"

	"github.com/99designs/gqlgen/graphql"
	"github.com/99designs/gqlgen/graphql/executor"
	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/validator"
	"github.com/vektah/gqlparser/v2/validator/rules"

	"github.com/talkback/talkback/graph"
)

// This file stands in for the API: it knows the schema and nothing else, so the pages can be tested
// without a table.

// object is a JSON object on its way out.
type object = map[string]any

// planned is the part of an answer that has a plan.
var planned = object{"comments": object{"plan": object{
	"summary": "read in one go\n  read 6 of P#1", "readUnits": 0.5, "waves": 1,
	"reads": []object{{"index": "byRating", "partitionKey": "P#1/5", "itemsRead": 6, "itemsKept": 5, "readUnits": 0.5}},
}}}

// stubAPI answers introspection with the schema, and any other valid query with what it was asked:
// the name of the operation, the variables and the header Authorization, under "data" as no real
// answer would have them, and a plan if it asked for one. Operations are noted by their names.
func stubAPI(api *ast.Schema, note func(operation string)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var asked struct {
			Query         string
			OperationName string
			Variables     map[string]any
		}
		if err := json.NewDecoder(r.Body).Decode(&asked); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		w.Header().Set("Content-Type", "application/graphql-response+json")
		if asked.OperationName == "IntrospectionQuery" {
			_ = json.NewEncoder(w).Encode(introspect(r.Context(), asked.Query))
			return
		}
		answer := object{"data": object{"operation": asked.OperationName, "variables": asked.Variables, "authorization": r.Header.Get("Authorization")}}
		if note(asked.OperationName); strings.Contains(asked.Query, "plan {") {
			answer["data"].(object)["product"] = planned
		}
		if err := check(api, asked.Query, asked.OperationName, asked.Variables); err != nil {
			answer = object{"errors": []object{{"message": err.Error()}}}
		}
		_ = json.NewEncoder(w).Encode(answer)
	}
}

// introspect answers a query of the schema.
func introspect(ctx context.Context, query string) any {
	schema := executor.New(graph.NewExecutableSchema(graph.Config{}))
	ctx = graphql.StartOperationTrace(ctx)
	operation, errs := schema.CreateOperationContext(ctx, &graphql.RawParams{Query: query})
	if len(errs) > 0 {
		return object{"errors": errs}
	}
	operation.DisableIntrospection = false
	respond, ctx := schema.DispatchOperation(ctx, operation)
	return respond(ctx)
}

// check returns what is wrong with a request, if anything.
func check(api *ast.Schema, query, operation string, variables map[string]any) error {
	document, errs := gqlparser.LoadQueryWithRules(api, query, rules.NewDefaultRules())
	if len(errs) > 0 {
		return errs
	}
	_, err := validator.VariableValues(api, document.Operations.ForName(operation), variables)
	return err
}
