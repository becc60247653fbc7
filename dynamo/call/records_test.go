package call

import (
	"bytes"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/dynamo/wire"
)

// Items that are handed over as records are those of the SDK, or their answer is left to the SDK.
func TestRecords(t *testing.T) {
	for _, form := range itemForms {
		body := []byte(answerOf("Query", form.text))
		checkRecords(t, form.name, body, decoded(t, ways[0], "Query", body))
	}
	for _, form := range answerForms {
		if body := []byte(form.text); form.only == "Query" || form.only == "" {
			checkRecords(t, form.name, body, decoded(t, ways[0], "Query", body))
		}
	}
}

// checkRecords compares the records of an answer with what the SDK made of it. Lists and maps
// within an item are for other readers.
func checkRecords(t *testing.T, name string, body []byte, model outcome) {
	t.Helper()
	checkRecordsOf(t, name, body, model, wire.Query)
	checkRecordsOf(t, name+", if plain", body, model, wire.PlainQuery)
}

func checkRecordsOf(
	t *testing.T, name string, body []byte, model outcome, read func([]byte, *dynamodb.QueryOutput, func(*wire.Record)) error,
) {
	t.Helper()
	var got []map[string]wire.Value
	var out dynamodb.QueryOutput
	err := read(body, &out, func(r *wire.Record) {
		values := map[string]wire.Value{}
		if n := len(got); n < len(model.Items) {
			for attr := range model.Items[n] {
				value := *r.Get(attr)
				value.Bytes = bytes.Clone(value.Bytes)
				values[attr] = value
			}
		}
		got = append(got, values)
	})
	switch {
	case err != nil:
		return
	case model.Failed:
		t.Errorf("%s: records are read of what the SDK refuses: %v", name, model.err)
	}
	var want []map[string]wire.Value
	for _, it := range model.Items {
		want = append(want, valuesOf(it))
	}
	for i := range got {
		for attr, value := range got[i] {
			if value.Kind == wire.List || value.Kind == wire.Map {
				value.Bytes = nil
				got[i][attr] = value
			}
		}
	}
	if diff := cmp.Diff(want, got, comparing...); diff != "" || out.Count != model.Count || out.ScannedCount != model.Scanned || UnitsOf(out.ConsumedCapacity) != model.Units {
		t.Errorf("%s: the SDK's items (-) and the records (+) differ:\n%s", name, diff)
	}
	if diff := cmp.Diff(model.Last, out.LastEvaluatedKey, comparing...); diff != "" {
		t.Errorf("%s: the SDK's key (-) and that with the records (+) differ:\n%s", name, diff)
	}
}

func valuesOf(it layout.Item) map[string]wire.Value {
	out := map[string]wire.Value{}
	for attr, value := range it {
		switch v := value.(type) {
		case *types.AttributeValueMemberS:
			out[attr] = wire.Value{Kind: wire.Text, Bytes: []byte(v.Value)}
		case *types.AttributeValueMemberN:
			out[attr] = wire.Value{Kind: wire.Number, Bytes: []byte(v.Value)}
		case *types.AttributeValueMemberB:
			out[attr] = wire.Value{Kind: wire.Binary, Bytes: v.Value}
		case *types.AttributeValueMemberBOOL:
			out[attr] = wire.Value{Kind: wire.Flag, Flag: v.Value}
		case *types.AttributeValueMemberL:
			out[attr] = wire.Value{Kind: wire.List}
		case *types.AttributeValueMemberM:
			out[attr] = wire.Value{Kind: wire.Map}
		}
	}
	return out
}
