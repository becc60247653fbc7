package call

import (
	"compress/gzip"
	"fmt"
	"io"
	"log"
	"os"
	"strings"
	"testing"
)

// form is a form of an item or an answer: JSON, or what is meant to be.
type form struct {
	name, text string
	want       string // as of a scenario
	only       string
}

// check checks answers that hold the form as body makes them of it.
func (f form) check(t *testing.T, body func(operation, text string) string) {
	t.Helper()
	scenario{
		name: f.name, want: f.want, only: f.only,
		answer: func(p *peer, r *received) bool { return p.ok(r, body(r.operation(), f.text)) },
	}.check(t)
}

func withItem(operation, text string) string { return answerOf(operation, text) }
func asIs(_, text string) string             { return text }

const (
	one     = "1 items, 1 requests"
	none    = "0 items, 1 requests"
	damaged = "Unavailable, damaged, 3 requests"
)

// itemForms are items in all forms that JSON allows, and in some that it does not.
var itemForms = []form{
	{name: "every type", text: `{"PK":{"S":"a"},"n":{"N":"5"},"b":{"B":"AP8="},"t":{"BOOL":true},"f":{"BOOL":false},"0":{"NULL":true},` +
		`"m":{"M":{"x":{"S":""},"y":{"M":{}}}},"l":{"L":[{"S":"a"},{"L":[]},{"N":"1"}]},"ss":{"SS":["a","b"]},"ns":{"NS":["1","2"]},"bs":{"BS":["AA==","/w=="]}}`, want: one},
	{name: "escapes", text: `{"PK":{"S":"\"\\\/\b\f\n\r\t\u00e9\u6f22\uD83D\uDE00\u0000\u2028"},"\u006e":{"\u004e":"\u0035"}}`, want: one},
	{name: "a value twice", text: `{"PK":{"S":"a","S":"b"}}`, want: damaged},
	{name: "a value of two types", text: `{"PK":{"S":"a","N":"1"}}`, want: damaged},
	{name: "deep", text: `{"PK":` + strings.Repeat(`{"M":{"x":`, 31) + `{"S":"a"}` + strings.Repeat(`}}`, 31) + `}`, want: one},
	{name: "as long as an item may be", text: `{"PK":{"S":"` + strings.Repeat("a", 400<<10) + `"}}`, want: one},
	{name: "a number without quotes", text: `{"PK":{"N":5}}`, want: damaged},
	{name: "a text instead of a value", text: `{"PK":"` + written + `"}`, want: damaged},
	{name: "a list instead of a value", text: `{"PK":["` + written + `"]}`, want: damaged},
	{name: "a text instead of a truth", text: `{"PK":{"BOOL":"` + written + `"}}`, want: damaged},
	{name: "a text instead of a list", text: `{"PK":{"L":"` + written + `"}}`, want: damaged},
	{name: "no base64", text: `{"PK":{"B":"` + written + `!"}}`, want: damaged},
	{name: "base64 without its end", text: `{"PK":{"B":"AP8"}}`, want: damaged},
	{name: "a control character", text: "{\"PK\":{\"S\":\"" + written + "\n\"}}", want: damaged},
	{name: "an unknown escape", text: `{"PK":{"S":"` + written + `\x"}}`, want: damaged},
	{name: "an escape without its end", text: `{"PK":{"S":"\u12"}}`, want: damaged},
	{name: "no comma", text: `{"PK":{"S":"a"} "b":{"S":"c"}}`, want: damaged},
	{name: "a comma too many", text: `{"PK":{"S":"a"},}`, want: damaged},
	{name: "no colon", text: `{"PK"{"S":"a"}}`, want: damaged},
	{name: "no quotes", text: `{PK:{"S":"a"}}`, want: damaged},
	{name: "single quotes", text: `{'PK':{'S':'a'}}`, want: damaged},
	{name: "a comment", text: `{"PK":{"S":"a"}/* a comment */}`, want: damaged},
	{name: "brackets that do not match", text: `{"PK":{"L":[{"S":"a"}}]}`, want: damaged},
	{name: "deeper than anything", text: `{"PK":` + strings.Repeat(`{"L":[`, 100_000), want: damaged},
	{name: "deeper than anything, and closed", text: `{"PK":` + strings.Repeat(`{"L":[`, 20_000) + strings.Repeat(`]}`, 20_000) + `}`, want: damaged},
	{name: "deeper than anything, in what is unknown", text: `{"PK":{"V":` + strings.Repeat(`[`, 100_000) + strings.Repeat(`]`, 100_000) + `}}`, want: damaged},
}

// answerForms are answers as wholes.
var answerForms = []form{
	{name: "nothing", text: ``, want: damaged},
	{name: "an empty object", text: `{}`, want: none},
	{name: "an object that does not begin", text: `}`, want: damaged},
	{name: "items that do not begin", only: "Query", text: `{"Items":],"Count":0,"ScannedCount":0}`, want: damaged},
	{name: "an item that does not begin", only: "Query", text: `{"Items":[}],"Count":1,"ScannedCount":1}`, want: damaged},
	{name: "null", text: `null`, want: damaged},
	{name: "a list", text: `[]`, want: damaged},
	{name: "a text", text: `"a"`, want: damaged},
	{name: "HTML", text: `<html>` + written + `</html>`, want: damaged},
	{name: "white space alone", text: " \n", want: damaged},
	{name: "a byte order mark", text: "\ufeff{}", want: damaged},
	{name: "no items, and more to come", only: "Query", text: `{"Items":[],"Count":0,"ScannedCount":300,"LastEvaluatedKey":{"PK":{"S":"z"},"n":{"N":"1"}}}`, want: none},
	{name: "a count as a text", only: "Query", text: `{"Count":"1","Items":[]}`, want: damaged},
	{name: "a count with a point", only: "Query", text: `{"Count":1.0,"Items":[]}`, want: damaged},
	{name: "a count that is huge", only: "Query", text: `{"Count":2147483648,"Items":[]}`, want: damaged},
	{name: "a count with zeros before", only: "Query", text: `{"Count":01,"Items":[]}`, want: damaged},
	{name: "an item that is none", only: "Query", text: `{"Items":["` + written + `"],"Count":1}`, want: damaged},
	{name: "units in all forms", only: "Query", text: `{"Items":[],"ConsumedCapacity":{"CapacityUnits":12.5e-1,"ReadCapacityUnits":1,"Table":{"CapacityUnits":9},"GlobalSecondaryIndexes":{"ALL":{"CapacityUnits":7}},"TableName":"x"}}`, want: none},
	{name: "units beyond what a float can be", only: "Query", text: `{"Items":[],"ConsumedCapacity":{"CapacityUnits":1e999}}`, want: damaged},
	{name: "units as a text", only: "Query", text: `{"Items":[],"ConsumedCapacity":{"CapacityUnits":"1"}}`, want: damaged},
	{name: "a list of several tables", only: "BatchGetItem", text: `{"Responses":{"other":[{"PK":{"S":"b"}}],"` + testTable + `":[{"PK":{"S":"a"}}]},"UnprocessedKeys":{"other":{"Keys":[{"PK":{"S":"c"}}]}}}`, want: one},
	{name: "all unprocessed", only: "BatchGetItem", text: `{"Responses":{},"UnprocessedKeys":{"` + testTable + `":{"Keys":[{"PK":{"S":"a"}},{"PK":{"S":"b\n"},"n":{"N":"1"}}],"ProjectionExpression":"PK","ConsistentRead":true,"ExpressionAttributeNames":{"#a":"b"}}}}`, want: none},
	{name: "a list that begins with a comma", only: "BatchGetItem", text: `{"Responses":{"t":[,0`, want: damaged},
	{name: "no item", only: "GetItem", text: `{"ConsumedCapacity":{"CapacityUnits":0.5}}`, want: none},
}

func TestItems(t *testing.T) {
	for _, row := range itemForms {
		row.check(t, withItem)
	}
}

func TestAnswers(t *testing.T) {
	for _, row := range answerForms {
		row.check(t, asIs)
	}
}

// How a body travels.
func TestTransfer(t *testing.T) {
	log.SetOutput(io.Discard) // the standard library logs what comes unasked
	defer log.SetOutput(os.Stderr)
	const head, rest = `{"Count":1,"Items":[{"PK":{"S":"a"}}`, `],"ScannedCount":1}`
	const lost = "Unavailable, 3 requests"
	for _, row := range []scenario{
		{name: "in chunks", only: "Query", answer: chunked(head, rest, "0\r\n\r\n"), want: one},
		{name: "in chunks with a trailer", only: "Query", answer: chunked(head, rest, "0\r\nx-amz-crc32: 1\r\n\r\n"), want: one},
		{name: "in chunks, the last is missing", only: "Query", answer: chunked(head, rest, ""), want: damaged},
		{name: "in chunks, cut in one", only: "Query", answer: chunked(head, "", "ff\r\n]"), want: damaged},
		{name: "in chunks whose length is none", only: "Query", answer: chunked(head, rest, "x\r\n\r\n"), want: damaged},
		{name: "until the connection ends", answer: func(p *peer, r *received) bool { return r.write(p.head(200, -1)+oneItem(r)) && false }, want: one},
		{name: "cut, without a length", answer: func(p *peer, r *received) bool { return r.write(p.head(200, -1)+half(oneItem(r))) && false }, want: damaged},
		{name: "cut", answer: func(p *peer, r *received) bool {
			return r.write(p.head(200, len(oneItem(r)))+half(oneItem(r))) && false
		}, want: damaged},
		{name: "a length too short", answer: func(p *peer, r *received) bool { return r.write(p.head(200, 20) + oneItem(r)) }, want: damaged},
		{name: "a length of nothing", answer: func(p *peer, r *received) bool { return r.write(p.head(200, 0) + oneItem(r)) }, want: damaged},
		{name: "two lengths", answer: func(p *peer, r *received) bool {
			return r.write(p.head(200, len(oneItem(r)), "Content-Length: 5")+oneItem(r)) && false
		}, want: lost},
		{name: "a length below zero", answer: func(p *peer, r *received) bool {
			return r.write(p.head(200, -1, "Content-Length: -5")+oneItem(r)) && false
		}, want: lost},
		{name: "no answer", answer: func(*peer, *received) bool { return false }, want: lost},
		{name: "half a head", answer: func(_ *peer, r *received) bool { return r.write("HTTP/1.1 200 OK\r\nContent-Le") && false }, want: lost},
		{name: "the connection is closed", answer: func(p *peer, r *received) bool {
			return p.says(r, 200, oneItem(r), "Connection: close") && false
		}, want: one},
		{name: "compressed, though nobody asked", answer: func(p *peer, r *received) bool { return p.says(r, 200, oneItem(r), "Content-Encoding: gzip") }, want: one},
		{name: "compressed", answer: func(p *peer, r *received) bool { return p.says(r, 200, zipped(oneItem(r)), "Content-Encoding: gzip") }, want: damaged},
		{name: "names of fields in small letters", answer: func(_ *peer, r *received) bool {
			return r.write(fmt.Sprintf("HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n%s", len(oneItem(r)), oneItem(r)))
		}, want: one},
		{name: "no head after five seconds", answer: func(_ *peer, r *received) bool { return r.hold() }, want: "Timeout, 3 requests"},
		{name: "no body", answer: func(p *peer, r *received) bool { return r.write(p.head(200, 100)) && r.hold() }, want: "Timeout, 1 requests"},
		{name: "half a body", answer: func(p *peer, r *received) bool { return r.write(p.head(200, 200)+half(oneItem(r))) && r.hold() }, want: "Timeout, 1 requests"},
		{name: "half an error", answer: func(p *peer, r *received) bool { return r.write(p.head(500, 200)+`{"__type`) && r.hold() }, want: "Timeout, 1 requests"},
		{name: "a right checksum", answer: func(p *peer, r *received) bool { return p.ok(r, oneItem(r)) }, want: one},
		{name: "no checksum", answer: func(p *peer, r *received) bool { return p.says(r, 200, oneItem(r)) }, want: one},
		{name: "a wrong checksum", answer: func(p *peer, r *received) bool { return p.says(r, 200, oneItem(r), "x-amz-crc32: 1") }, want: damaged},
		{name: "a checksum that is none", answer: func(p *peer, r *received) bool { return p.says(r, 200, oneItem(r), "x-amz-crc32: x") }, want: damaged},
		{name: "a checksum too large", answer: func(p *peer, r *received) bool { return p.says(r, 200, oneItem(r), "x-amz-crc32: 4294967296") }, want: damaged},
		{name: "damaged once", answer: func(p *peer, r *received) bool {
			if r.number == 1 {
				return p.says(r, 200, half(oneItem(r)))
			}
			return p.ok(r, oneItem(r))
		}, want: "1 items, 2 requests"},
	} {
		row.check(t)
	}
}

func zipped(body string) string {
	var b strings.Builder
	w := gzip.NewWriter(&b)
	_, _ = w.Write([]byte(body)) // a Builder takes it
	_ = w.Close()
	return b.String()
}

func half(body string) string { return body[:len(body)/2] }

// chunked answers in two chunks and an end. It closes the connection unless the end is one.
func chunked(first, second, end string) func(*peer, *received) bool {
	return func(p *peer, r *received) bool {
		body := p.head(200, -1, "Transfer-Encoding: chunked")
		for _, chunk := range []string{first, second} {
			if chunk != "" {
				body += fmt.Sprintf("%x\r\n%s\r\n", len(chunk), chunk)
			}
		}
		return r.write(body+end) && strings.HasSuffix(end, "\r\n\r\n")
	}
}
