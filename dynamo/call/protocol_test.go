package call

import (
	"bytes"
	"hash/crc32"
	"io"
	"math"
	"net/http"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/smithy-go/middleware"

	"github.com/talkback/talkback/dynamo/layout"
)

// claiming gives every call one answer, and a checksum.
type claiming struct {
	status         int
	body, checksum string
	calls          int
}

// Do implements [dynamodb.HTTPClient].
func (c *claiming) Do(request *http.Request) (*http.Response, error) {
	c.calls++
	header := http.Header{"Content-Type": {"application/x-amz-json-1.0"}}
	if c.checksum != "" {
		header.Set("X-Amz-Crc32", c.checksum)
	}
	return &http.Response{StatusCode: c.status, Header: header, Body: io.NopCloser(strings.NewReader(c.body)), ContentLength: int64(len(c.body)), Request: request}, nil
}

// An answer that was damaged on its way is never taken for one. A read is made again, a write is
// not: who writes has to find out first.
func TestChecksumIsEnforced(t *testing.T) {
	const page = `{"Count":1,"ScannedCount":1,"Items":[{"PK":{"S":"C#1"}}]}`
	const refused = `{"__type":"com.amazonaws.dynamodb.v20120810#ValidationException","message":"no"}`
	of := func(body string) string { return strconv.FormatUint(uint64(crc32.ChecksumIEEE([]byte(body))), 10) }
	for _, row := range []struct {
		name    string
		table   claiming
		damaged bool
	}{
		{"right", claiming{status: 200, body: page, checksum: of(page)}, false},
		{"none", claiming{status: 200, body: page}, false},
		{"wrong", claiming{status: 200, body: page, checksum: "1"}, true},
		{"of another letter case", claiming{status: 200, body: strings.ToLower(page), checksum: of(page)}, true},
		{"no number", claiming{status: 200, body: page, checksum: "none"}, true},
		{"larger than 32 bits", claiming{status: 200, body: page, checksum: "1" + of(page) + "00000"}, true},
		{"empty answer", claiming{status: 200, body: ""}, true},
		{"empty answer with its checksum", claiming{status: 200, body: "", checksum: "0"}, true},
		{"an error's, wrong", claiming{status: 400, body: refused, checksum: "1"}, true},
		{"an error's, right", claiming{status: 400, body: refused, checksum: of(refused)}, false},
	} {
		for _, write := range []bool{false, true} {
			synctest.Test(t, func(t *testing.T) {
				table := row.table
				client := Over(NewLocalClient("http://table"), &table)
				var err error
				if write {
					_, err = client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String("t"), Item: layout.CommentKey("c")}, NoRetries)
				} else {
					_, err = client.Query(t.Context(), benchQuery())
				}
				if unreadable(err) != row.damaged || row.table.status == 200 && !row.damaged && err != nil {
					t.Errorf("%s, a write: %v: %v", row.name, write, err)
				}
				if again := table.calls > 1; again != (row.damaged && !write) {
					t.Errorf("%s, a write: %v: %d calls", row.name, write, table.calls)
				}
			})
		}
	}
}

// Answers are decoded as the SDK decodes them. Those marked as usual are not left to it.
func TestAnswersAreDecodedAsTheSDKDoes(t *testing.T) {
	attribute := func(value string) string { return `{"Items":[{"a":{"S":"before"}},{"a":` + value + `}]}` }
	for _, row := range []struct {
		name, body string
		usual      bool
	}{
		{"comments", string(recordedQuery(t)), true},
		{"nothing", `{}`, true},
		{"no items", `{"Count":0,"ScannedCount":0,"Items":[]}`, true},
		{"escapes", attribute(`{"S":"\n\"\/\\"}`), true},
		{"escapes by number", attribute(`{"S":"\u00fc\u6F22"}`), true},
		{"surrogates", attribute(`{"S":"\ud83d\uDE00\ud83d"}`), false},
		{"half an escape", attribute(`{"S":"\ud`), false},
		{"invalid UTF-8", attribute("{\"S\":\"\\n\xff\"}"), false},
		{"binary", attribute(`{"B":"AAEC/w=="}`), true},
		{"numbers, booleans, lists and maps", attribute(`{"M":{"n":{"N":"-1.5e3"},"b":{"BOOL":true},"l":{"L":[{"S":""},{"L":[]}]}}}`), true},
		{"white space", " { \"Count\" : 1 , \"Items\" : [ { } ] } ", true},
		{"unknown members", `{"Count":1,"New":{"a":[1,2,null]},"Items":[]}`, true},
		{"a member twice", `{"Count":1,"Count":2,"Items":[{"a":{"S":"x"}}],"Items":[]}`, true},
		{"an attribute twice", `{"Items":[{"a":{"S":"x"},"a":{"S":"y"}}]}`, true},
		{"no attribute of a null", `{"Items":null,"Count":null}`, false},
		{"an item that is null", `{"Items":[null]}`, false},
		{"sets", attribute(`{"SS":["a","b"]}`), false},
		{"null", attribute(`{"NULL":true}`), false},
		{"a value that is null", attribute(`null`), false},
		{"a type that is null", attribute(`{"S":null}`), false},
		{"no type", attribute(`{}`), false},
		{"a new type", attribute(`{"X":"x"}`), false},
		{"two types", attribute(`{"S":"x","N":"1"}`), false},
		{"capacity of indexes", `{"ConsumedCapacity":{"CapacityUnits":1,"Table":{"CapacityUnits":1}}}`, false},
		{"a count that is no whole number", `{"Count":1.5}`, false},
		{"a huge count", `{"Count":99999999999}`, false},
		{"no base64", attribute(`{"B":"?"}`), false},
		{"a control character", attribute("{\"S\":\"\x01\"}"), false},
		{"cut", `{"Items":[{"a":{"S":"x`, false},
		{"HTML", `<html></html>`, false},
		{"a list", `[]`, false},
		{"nested too deeply", attribute(strings.Repeat(`{"L":[`, 40) + strings.Repeat(`]}`, 40)), false},
	} {
		t.Run(row.name, func(t *testing.T) {
			if err := decodeUsual([]byte(row.body), &dynamodb.QueryOutput{}, nil); (err == nil) != row.usual {
				t.Errorf("usual: %v", err == nil)
			}
			ours := Over(NewLocalClient("http://table"), &claiming{status: 200, body: row.body})
			sdk := dynamodb.New(ours.Options())
			got, err := ours.Query(t.Context(), benchQuery(), NoRetries)
			want, wanted := sdk.Query(t.Context(), benchQuery(), NoRetries)
			if (err == nil) != (wanted == nil) || unreadable(err) != unreadable(wanted) {
				t.Fatalf("%v; the SDK: %v", err, wanted)
			}
			if err != nil {
				return
			}
			if got.ResultMetadata, want.ResultMetadata = (middleware.Metadata{}), (middleware.Metadata{}); !reflect.DeepEqual(got, want) {
				t.Errorf("%+v; the SDK: %+v", got, want)
			}
		})
	}
}

// An answer that does not end is given up, also if it announced no length.
func TestEndlessAnswerIsGivenUp(t *testing.T) {
	const most = 1 << 20
	for _, size := range []int64{most, most + 1, math.MaxInt64} {
		endless := &http.Response{StatusCode: http.StatusOK, ContentLength: -1, Body: io.NopCloser(io.LimitReader(zeros{}, size))}
		var read bytes.Buffer
		if err := readAnswer(endless, &read, most); (err == nil) != (size == most) || read.Len() > most+1 {
			t.Errorf("of %d bytes %d are read: %v", size, read.Len(), err)
		}
	}
}

// zeros does not end.
type zeros struct{}

// Read implements [io.Reader].
func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}
