package layout

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/google/go-cmp/cmp"

	"github.com/talkback/talkback/dynamo/wire"
)

// An item reads the same as a record and as a map: rows of numbers, or why there are none.
func TestRowsOfRecordsAndMaps(t *testing.T) {
	for name, attribute := range map[string]string{
		"two rows":            `{"M":{"en":{"L":[{"N":"1"},{"N":"-2"}]},"de":{"L":[]}}}`,
		"none":                `{"M":{}}`,
		"a list":              `{"L":[]}`,
		"a text":              `{"S":"x"}`,
		"a row of a text":     `{"M":{"en":{"S":"1"}}}`,
		"a text in a row":     `{"M":{"en":{"L":[{"S":"1"}]}}}`,
		"half a number":       `{"M":{"en":{"L":[{"N":"1.5"}]}}}`,
		"too large a number":  `{"M":{"en":{"L":[{"N":"9223372036854775808"}]}}}`,
		"a row twice":         `{"M":{"en":{"L":[{"N":"1"}]},"en":{"L":[{"N":"2"}]}}}`,
		"a row of JSON alone": `{"M":{"en":[1]}}`,
	} {
		body := []byte(`{"Items":[{"g":` + attribute + `}]}`)
		var asMap dynamodb.QueryOutput
		usual := wire.Query(body, &asMap, nil) == nil
		err := wire.Query(body, &dynamodb.QueryOutput{}, func(record *wire.Record) {
			got, gotErr := rowsOf(ReadRecord(record))
			if !usual { // the SDK refuses it
				if gotErr == nil {
					t.Errorf("%s: %v", name, got)
				}
				return
			}
			want, wantErr := rowsOf(NewReader(asMap.Items[0]))
			if (gotErr == nil) != (wantErr == nil) || gotErr == nil && !cmp.Equal(got, want) {
				t.Errorf("%s: %v, %v; as a map %v, %v", name, got, gotErr, want, wantErr)
			}
		})
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// rowsOf are the rows of the attribute g.
func rowsOf(r *Reader) (map[string][]int64, error) {
	rows := map[string][]int64{}
	r.Rows("g", func(name string, numbers []int64) { rows[name] = append([]int64{}, numbers...) })
	return rows, r.Err()
}
