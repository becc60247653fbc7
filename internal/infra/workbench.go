package main

import (
	_ "embed"
	"encoding/json"
	"slices"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/talkback/talkback/dynamo/layout"
)

// sample holds items of each kind that the program wrote, in DynamoDB JSON.
//
//go:embed sample.json
var sample []byte

// workbench returns the model of the table for NoSQL Workbench, in the form that it exports:
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/workbench.Modeler.ExportModel.html
func workbench() ([]byte, error) {
	var items []object
	if err := json.Unmarshal(sample, &items); err != nil {
		return nil, err
	}
	table := layout.Definition(layout.DefaultTable)
	var indexes []object
	for _, index := range table.GlobalSecondaryIndexes {
		projection := object{"ProjectionType": index.Projection.ProjectionType}
		if carried := index.Projection.NonKeyAttributes; carried != nil {
			projection["NonKeyAttributes"] = carried
		}
		indexes = append(indexes, object{
			"IndexName": index.IndexName, "KeyAttributes": modelKey(index.KeySchema), "Projection": projection,
		})
	}
	model := object{
		"TableName": table.TableName, "BillingMode": table.BillingMode, "KeyAttributes": modelKey(table.KeySchema),
		"NonKeyAttributes": modelAttributes(), "TableFacets": facets(items), "GlobalSecondaryIndexes": indexes,
		"TableData": items, "DataAccess": object{"MySql": object{}},
	}
	const date = "Nov 26, 2026, 10:00 AM"
	return indented(object{
		"ModelName": "Talkback",
		"ModelMetadata": object{
			"Author": "Talkback", "AWSService": "Amazon DynamoDB", "Version": "3.0", "DateCreated": date, "DateLastModified": date,
			"Description": "Product reviews and comments in one table, with samples of its items. `make generate` writes this file.",
		},
		"DataModel": []any{model},
	})
}

func modelKey(schema []types.KeySchemaElement) object {
	key := func(of types.KeySchemaElement) object { return modelAttribute(attribute{*of.AttributeName, "S"}) }
	return object{"PartitionKey": key(schema[0]), "SortKey": key(schema[1])}
}

func modelAttribute(a attribute) object {
	return object{"AttributeName": a.name, "AttributeType": a.kind}
}

// modelAttributes returns every attribute once. A model has one type for each name: that of
// comments, if they have the attribute.
func modelAttributes() []object {
	var all []object
	seen := map[string]bool{}
	for _, k := range kinds {
		for _, a := range k.all() {
			if !seen[a.name] {
				seen[a.name] = true
				all = append(all, modelAttribute(a))
			}
		}
	}
	return all
}

// facets returns a facet for each kind, with its items.
func facets(items []object) []object {
	data := map[string][]object{}
	for _, item := range items {
		k, _ := kindOf(item)
		data[k.name] = append(data[k.name], item)
	}
	var all []object
	for _, k := range kinds {
		names := []string{}
		for _, a := range k.all() {
			names = append(names, a.name)
		}
		all = append(all, object{
			"FacetName": k.name, "KeyAttributeAlias": object{"PartitionKeyAlias": k.pk, "SortKeyAlias": k.sk},
			"NonKeyAttributes": slices.Compact(names), "TableData": append([]object{}, data[k.name]...), "DataAccess": object{"MySql": object{}},
		})
	}
	return all
}
