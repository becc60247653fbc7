package call

import (
	"net/http"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/talkback/talkback/dynamo/layout"
)

// inTurn gives each call the next of some answers.
type inTurn []string

// Do implements [dynamodb.HTTPClient].
func (c *inTurn) Do(request *http.Request) (*http.Response, error) {
	answer := claiming{status: 200, body: (*c)[0]}
	*c = (*c)[1:]
	return answer.Do(request)
}

// keysTaken takes the keys of items, and what else they have.
type keysTaken struct{ keys []string }

// Begin implements [Taker].
func (k *keysTaken) Begin(int) { k.keys = nil }

// Take implements [Taker].
func (k *keysTaken) Take(item *layout.Reader) {
	text, binary := item.TextOrBinary("t")
	k.keys = append(k.keys, strings.Join([]string{item.Text("PK"), text, string(binary)}, "|"))
}

// Items are handed over once, whether the answer is usual, is left to the SDK, or had to be asked
// for again. A client with the SDK's protocol hands over the same.
func TestItemsAreTakenOnce(t *testing.T) {
	items := func(last string) string {
		return `{"Count":2,"ScannedCount":2,"Items":[{"PK":{"S":"a"},"t":{"B":"YmI="}},{"PK":{"S":"b"},"t":` + last + `}]}`
	}
	want := []string{"a||bb", "b|x\n|"}
	for name, answers := range map[string][]string{
		"usual":            {items(`{"S":"x\n"}`)},
		"unusual":          {items(`{"S":"x\n","N":null}`)},
		"damaged at first": {items(`{"S":"x`), items(`{"S":1}`), items(`{"S":"x\n"}`)},
		"then unusual":     {items(`{"S":"x`), items(`{"S":"x\n","N":null}`)},
	} {
		synctest.Test(t, func(t *testing.T) {
			ours := NewLocalClient("http://table")
			for way, client := range map[string]func(dynamodb.HTTPClient) Querier{
				"protocol": func(h dynamodb.HTTPClient) Querier { return Over(ours, h) },
				"lean":     func(h dynamodb.HTTPClient) Querier { return mustLean(t, Over(ours, h)) },
				"SDK": func(h dynamodb.HTTPClient) Querier {
					return dynamodb.New(ours.Options(), func(o *dynamodb.Options) { o.HTTPClient = h })
				},
			} {
				table, got := inTurn(answers), keysTaken{keys: []string{"of another call"}}
				out, err := Query(t.Context(), client(&table), smallQuery(), &got)
				if err != nil || !reflect.DeepEqual(got.keys, want) || out.Items != nil || out.Count != 2 {
					t.Errorf("%s, %s: %q, %v", name, way, got.keys, err)
				}
			}
		})
	}
}

// An answer without items takes nothing, and what an earlier call took is gone.
func TestNoItemsAreTaken(t *testing.T) {
	for _, body := range []string{`{"Count":3,"ScannedCount":3}`, `{"Count":0,"ScannedCount":0,"Items":[]}`, `{"Items":null}`} {
		got := keysTaken{keys: []string{"of another call"}}
		if _, err := Query(t.Context(), Over(NewLocalClient("http://table"), &claiming{status: 200, body: body}), smallQuery(), &got); err != nil || len(got.keys) > 0 {
			t.Errorf("%s: %q, %v", body, got.keys, err)
		}
	}
}
