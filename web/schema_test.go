package web

import (
	"encoding/json"
	"net/http"
	"strings"

	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/validator"
	"github.com/vektah/gqlparser/v2/validator/rules"
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
		answer := object{"data": object{"operation": asked.OperationName, "variables": asked.Variables, "authorization": r.Header.Get("Authorization")}}
		if asked.OperationName == "IntrospectionQuery" {
			answer = object{"data": object{"__schema": introspect(api)}}
		} else if note(asked.OperationName); strings.Contains(asked.Query, "plan {") {
			answer["data"].(object)["product"] = planned
		}
		if err := check(api, asked.Query, asked.OperationName, asked.Variables); err != nil && asked.OperationName != "IntrospectionQuery" {
			answer = object{"errors": []object{{"message": err.Error()}}}
		}
		w.Header().Set("Content-Type", "application/graphql-response+json")
		_ = json.NewEncoder(w).Encode(answer)
	}
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

// introspect returns what the standard introspection query asks about a schema.
func introspect(api *ast.Schema) object {
	types := []object{}
	for _, definition := range api.Types {
		types = append(types, describeType(api, definition))
	}
	return object{
		"description": api.Description, "queryType": object{"name": api.Query.Name}, "mutationType": object{"name": api.Mutation.Name},
		"subscriptionType": nil, "types": types, "directives": []object{},
	}
}

func describeType(api *ast.Schema, definition *ast.Definition) object {
	described := object{
		"kind": definition.Kind, "name": definition.Name, "description": definition.Description,
		"fields": nil, "inputFields": nil, "interfaces": []object{}, "enumValues": nil, "possibleTypes": nil,
	}
	switch definition.Kind {
	case ast.Object, ast.Interface:
		described["fields"] = describeFields(api, definition.Fields)
		described["interfaces"] = references(definition.Interfaces)
		described["possibleTypes"] = possible(api, definition)
	case ast.InputObject:
		inputs := []object{}
		for _, field := range definition.Fields {
			inputs = append(inputs, describeInput(api, field.Name, field.Description, field.Type, field.DefaultValue))
		}
		described["inputFields"] = inputs
	case ast.Enum:
		values := []object{}
		for _, value := range definition.EnumValues {
			values = append(values, object{"name": value.Name, "description": value.Description, "isDeprecated": false})
		}
		described["enumValues"] = values
	}
	return described
}

func describeFields(api *ast.Schema, fields ast.FieldList) []object {
	described := []object{}
	for _, field := range fields {
		if strings.HasPrefix(field.Name, "__") {
			continue // introspection does not list its own way in
		}
		args := []object{}
		for _, arg := range field.Arguments {
			args = append(args, describeInput(api, arg.Name, arg.Description, arg.Type, arg.DefaultValue))
		}
		described = append(described, object{
			"name": field.Name, "description": field.Description, "args": args,
			"type": describeReference(api, field.Type), "isDeprecated": false,
		})
	}
	return described
}

func describeInput(api *ast.Schema, name, description string, typ *ast.Type, fallback *ast.Value) object {
	described := object{"name": name, "description": description, "type": describeReference(api, typ), "defaultValue": nil}
	if fallback != nil {
		described["defaultValue"] = fallback.String()
	}
	return described
}

// describeReference wraps the name of a type into its lists and non-nulls, outermost first.
func describeReference(api *ast.Schema, typ *ast.Type) object {
	if typ.NonNull {
		nullable := *typ
		nullable.NonNull = false
		return object{"kind": "NON_NULL", "ofType": describeReference(api, &nullable)}
	}
	if typ.Elem != nil {
		return object{"kind": "LIST", "ofType": describeReference(api, typ.Elem)}
	}
	return object{"kind": api.Types[typ.NamedType].Kind, "name": typ.NamedType}
}

func references(interfaces []string) []object {
	named := []object{}
	for _, name := range interfaces {
		named = append(named, object{"kind": ast.Interface, "name": name})
	}
	return named
}

// possible returns the objects that an interface may be; nil for what is no interface.
func possible(api *ast.Schema, definition *ast.Definition) []object {
	if definition.Kind != ast.Interface {
		return nil
	}
	named := []object{}
	for _, implementation := range api.GetPossibleTypes(definition) {
		named = append(named, object{"kind": ast.Object, "name": implementation.Name})
	}
	return named
}
