package main

import (
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/talkback/talkback/dynamo"
	"github.com/talkback/talkback/dynamo/call"
	"github.com/talkback/talkback/dynamo/counts"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/dynamo/restore"
	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/internal/doctest"
	"github.com/talkback/talkback/internal/dynamotest"
)

// sampleItems are the items of the model, in its JSON.
func sampleItems(t *testing.T) (items []object) {
	t.Helper()
	must.Do(t, json.Unmarshal(sample, &items))
	return items
}

// Each item of the model is of a kind, and has no attribute that the kind lacks, nor one of another
// type.
func TestSampleIsOfTheKinds(t *testing.T) {
	shown := map[string]bool{}
	for _, item := range sampleItems(t) {
		k, ok := kindOf(item)
		if !ok {
			t.Errorf("%v, %v is of no kind", item[layout.AttrPK], item[layout.AttrSK])
		}
		shown[k.name] = true
		for name, value := range item {
			kind := slices.Collect(maps.Keys(value.(object)))[0]
			if name != layout.AttrPK && name != layout.AttrSK && !slices.Contains(k.all(), attribute{name, kind}) {
				t.Errorf("%s: attribute %q of type %s is not listed", k.name, name, kind)
			}
		}
	}
	for _, k := range kinds {
		if !shown[k.name] {
			t.Errorf("there is no sample of %s", k.name)
		}
	}
}

// tokens are the texts in backticks.
var tokens = regexp.MustCompile("`([^`]+)`")

// The model has a sample of each key that docs/design/table.md lists.
func TestSampleHasTheKeysOfTheDocument(t *testing.T) {
	_, table, _ := strings.Cut(doctest.Read(t, "docs/design/table.md").Text, "| item | PK | SK | notes |")
	table, _, _ = strings.Cut(table, "\n\n")
	keys := 0
	for row := range strings.Lines(table) {
		cells := strings.Split(row, "|")
		for i, attr := range map[int]string{2: layout.AttrPK, 3: layout.AttrSK} {
			if len(cells) < 4 {
				continue
			}
			for _, key := range tokens.FindAllStringSubmatch(cells[i], -1) {
				keys++
				prefix := key[1][:strings.IndexAny(key[1]+"<", "<.")]
				if !slices.ContainsFunc(sampleItems(t), func(item object) bool {
					return strings.HasPrefix(item[attr].(object)["S"].(string), prefix)
				}) {
					t.Errorf("there is no sample with the %s %s", attr, key[1])
				}
			}
		}
	}
	if keys < 40 {
		t.Errorf("%d keys were found in the document", keys)
	}
}

// Every attribute of a comment is listed, and docs/design/table.md has the keys of every kind.
func TestKindsAreThoseOfTheDocument(t *testing.T) {
	for _, attr := range strings.Split(layout.TableProjection(true), ",") {
		if attr != layout.AttrPK && attr != layout.AttrSK && !slices.ContainsFunc(kinds[0].all(), func(a attribute) bool { return a.name == attr }) {
			t.Errorf("attribute %q of comments is not listed", attr)
		}
	}
	document := doctest.Read(t, "docs/design/table.md").Text
	for _, k := range kinds {
		prefix, _, _ := strings.Cut(k.pk, "#")
		if !strings.Contains(document, "`"+prefix) {
			t.Errorf("docs/design/table.md does not have the key %s of %s", k.pk, k.name)
		}
	}
}

// The sample is a table that the program takes: its comments can be read, and its counts are
// theirs.
func TestSampleIsATable(t *testing.T) {
	endpoint, table := dynamotest.Dynoxide(t), dynamotest.TableName(t)
	client := call.NewLocalClient(endpoint)
	must.Do(t, dynamo.CreateTable(t.Context(), client, table))
	for _, item := range sampleItems(t) {
		put(t, endpoint, object{"TableName": table, "Item": item})
	}
	for _, stored := range dynamotest.Scan(t, client, table) {
		r := layout.NewReader(stored)
		if restore.KindOf(stored) == restore.Unknown {
			t.Errorf("%s, %s: a restore of the table does not know it", r.Text(layout.AttrPK), r.Text(layout.AttrSK))
		}
		if r.Text(layout.AttrSK) == layout.CommentSK && !layout.NoComment(stored) {
			if _, err := layout.Decode(stored); err != nil {
				t.Error(err)
			}
		}
	}
	if err := dynamo.CheckLayout(t.Context(), client, table); err != nil {
		t.Error(err)
	}
	found, err := counts.NewVerifier(client, table, counts.VerifyOptions{}).Run(t.Context(), func(int) {})
	if err != nil || found.Comments != 8 || found.Voted != 2 || len(found.Drifts)+len(found.Improper) > 0 {
		t.Errorf("%+v, %v; want 8 comments, 2 of them with votes, and no drift", found, err)
	}
}

// put sends the input of PutItem to an engine as it is, in DynamoDB's JSON.
func put(t *testing.T, endpoint string, input object) {
	t.Helper()
	request := must.Get(http.NewRequest(http.MethodPost, endpoint, bytes.NewReader(must.Get(json.Marshal(input))(t))))(t)
	request.Header.Set("Content-Type", "application/x-amz-json-1.0")
	request.Header.Set("X-Amz-Target", "DynamoDB_20120810.PutItem")
	request.Header.Set("X-Amz-Date", "20260101T000000Z")
	request.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential=a/20260101/b/dynamodb/aws4_request, SignedHeaders=host, Signature=0")
	response := must.Get(http.DefaultClient.Do(request))(t)
	defer response.Body.Close()
	if said := must.Get(io.ReadAll(response.Body))(t); response.StatusCode != http.StatusOK {
		t.Fatalf("%v: %s", input, said)
	}
}
