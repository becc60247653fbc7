package web

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"sync"

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

// stub is an API that answers introspection with the schema, and refuses what the schema does not
// have. Operations that it has no answers for are answered with what was asked: the name of the
// operation, the variables and the header Authorization, under "data" as no real answer would have
// them, and a plan if it was asked for.
type stub struct {
	schema  *ast.Schema
	answers map[string]string // by the names of operations

	mu    sync.Mutex
	asked []string // the names of operations
}

// ServeHTTP answers, or says what is wrong with the request.
func (s *stub) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var asked struct {
		Query, OperationName string
		Variables            map[string]any
	}
	if err := json.NewDecoder(r.Body).Decode(&asked); err != nil || r.Context().Err() != nil {
		http.Error(w, "refused", http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "application/graphql-response+json")
	if asked.OperationName == "IntrospectionQuery" {
		_ = json.NewEncoder(w).Encode(introspect(r.Context(), asked.Query))
		return
	}
	name, err := check(s.schema, asked.Query, asked.OperationName, asked.Variables)
	if err != nil {
		_ = json.NewEncoder(w).Encode(object{"errors": []object{{"message": err.Error()}}})
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked = append(s.asked, name)
	if answer, known := s.answers[name]; known {
		if answer == failing {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
		_, _ = w.Write([]byte(answer))
		return
	}
	answer := object{"operation": name, "variables": asked.Variables, "authorization": r.Header.Get("Authorization")}
	if strings.Contains(asked.Query, "plan {") {
		answer["product"] = planned
	}
	_ = json.NewEncoder(w).Encode(object{"data": answer})
}

// names are the operations so far.
func (s *stub) names() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.asked)
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

// check returns the name of the operation that a request asks for, or what is wrong with it.
func check(api *ast.Schema, query, operation string, variables map[string]any) (name string, err error) {
	document, errs := gqlparser.LoadQueryWithRules(api, query, rules.NewDefaultRules())
	if len(errs) > 0 {
		return "", errs
	}
	wanted := document.Operations.ForName(operation)
	_, err = validator.VariableValues(api, wanted, variables)
	return wanted.Name, err
}
