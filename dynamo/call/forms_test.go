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

const (
	one     = "1 items, 1 requests"
	damaged = "Unavailable, damaged, 3 requests"
)

// Answers that the SDK cannot read are requested again. No error reveals their contents, and none
// takes much time or memory.
func TestUnreadableAnswers(t *testing.T) {
	for name, text := range map[string]string{
		"nothing":                          ``,
		"null":                             `null`,
		"an object that does not begin":    `}`,
		"items that do not begin":          `{"Items":],"Count":0,"ScannedCount":0}`,
		"an item that does not begin":      `{"Items":[}],"Count":1,"ScannedCount":1}`,
		"HTML":                             `<html>` + written + `</html>`,
		"a text instead of a value":        answerOf("Query", `{"PK":"`+written+`"}`),
		"no base64":                        answerOf("Query", `{"PK":{"B":"`+written+`!"}}`),
		"a control character":              answerOf("Query", "{\"PK\":{\"S\":\""+written+"\n\"}}"),
		"deeper than anything":             answerOf("Query", `{"PK":`+strings.Repeat(`{"L":[`, 100_000)),
		"deeper than anything, and closed": answerOf("Query", `{"PK":`+strings.Repeat(`{"L":[`, 20_000)+strings.Repeat(`]}`, 20_000)+`}`),
	} {
		scenario{name: name, only: "Query", want: damaged, answer: func(p *peer, r *received) bool { return p.ok(r, text) }}.check(t)
	}
	large := answerOf("Query", `{"PK":{"S":"`+strings.Repeat("a", 400<<10)+`"}}`)
	scenario{name: "as long as an item may be", only: "Query", want: one, answer: func(p *peer, r *received) bool { return p.ok(r, large) }}.check(t)
}

// The ways in which a body is transferred.
func TestTransfer(t *testing.T) {
	log.SetOutput(io.Discard) // the standard library logs unsolicited responses
	defer log.SetOutput(os.Stderr)
	const head, rest = `{"Count":1,"Items":[{"PK":{"S":"a"}}`, `],"ScannedCount":1}`
	const lost = "Unavailable, 3 requests"
	for _, row := range []scenario{
		{name: "in chunks", only: "Query", answer: chunked(head, rest, "0\r\n\r\n"), want: one},
		{name: "in chunks, the last is missing", only: "Query", answer: chunked(head, rest, ""), want: damaged},
		{name: "until the connection ends", answer: func(p *peer, r *received) bool { return r.write(p.head(200, -1)+oneItem(r)) && false }, want: one},
		{name: "cut, without a length", answer: func(p *peer, r *received) bool { return r.write(p.head(200, -1)+half(oneItem(r))) && false }, want: damaged},
		{name: "cut", answer: func(p *peer, r *received) bool {
			return r.write(p.head(200, len(oneItem(r)))+half(oneItem(r))) && false
		}, want: damaged},
		{name: "no answer", answer: func(*peer, *received) bool { return false }, want: lost},
		{name: "half a head", answer: func(_ *peer, r *received) bool { return r.write("HTTP/1.1 200 OK\r\nContent-Le") && false }, want: lost},
		{name: "the connection is closed", answer: func(p *peer, r *received) bool {
			return p.says(r, 200, oneItem(r), "Connection: close") && false
		}, want: one},
		{name: "compressed", answer: func(p *peer, r *received) bool { return p.says(r, 200, zipped(oneItem(r)), "Content-Encoding: gzip") }, want: damaged},
		{name: "no head after five seconds", answer: func(_ *peer, r *received) bool { return r.hold() }, want: "Timeout, 3 requests"},
		{name: "no body", answer: func(p *peer, r *received) bool { return r.write(p.head(200, 100)) && r.hold() }, want: "Timeout, 1 requests"},
		{name: "half a body", answer: func(p *peer, r *received) bool { return r.write(p.head(200, 200)+half(oneItem(r))) && r.hold() }, want: "Timeout, 1 requests"},
		{name: "half an error", answer: func(p *peer, r *received) bool { return r.write(p.head(500, 200)+`{"__type`) && r.hold() }, want: "Timeout, 1 requests"},
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

// chunked answers in two chunks and an end. It closes the connection unless the end is complete.
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
