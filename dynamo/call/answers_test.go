package call

import (
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"
)

// scenario is a way in which a table answers, and the outcome that a client should get.
type scenario struct {
	name   string
	answer func(p *peer, r *received) bool
	want   string
	// why is the reason, empty if the name says it.
	why string
	// only is the one operation that the scenario is for, empty for all.
	only string
}

// check runs a scenario with each operation.
func (s scenario) check(t *testing.T) {
	for _, operation := range operations {
		if s.only != "" && s.only != operation {
			continue
		}
		got := s.run(t, operation)
		if got.String() != s.want {
			t.Errorf("%s, %s: %s (%v), want %s %s", s.name, operation, got, got.err, s.want, s.why)
		}
		if told := got.secrets(); len(told) > 0 {
			t.Errorf("%s, %s: the error reveals %q", s.name, operation, told)
		}
	}
}

// patience is the time that a call waits for an answer.
const patience = time.Minute

// run makes one call.
func (s scenario) run(t *testing.T, operation string) (got outcome) {
	withPeer(t, func(t *testing.T, p *peer) {
		p.answer = func(r *received) bool { return s.answer(p, r) }
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		got = ask(ctx, p.client(), operation)
		got.requests, _, _ = p.seen()
	})
	return got
}

// always answers each request the same.
func always(status int, body string, fields ...string) func(*peer, *received) bool {
	return func(p *peer, r *received) bool { return p.says(r, status, body, fields...) }
}

// fails answers each request with an error code.
func fails(status int, code string) func(*peer, *received) bool {
	return always(status, `{"__type":"com.amazonaws.dynamodb.v20120810#`+code+`","message":"It failed."}`)
}

// Error codes that TestWhatErrorsMean, a test of the Store, lacks.
func TestErrorCodes(t *testing.T) {
	for _, row := range []struct {
		status     int
		code, want string
	}{
		{400, "Throttling", "Throttled, Throttling, 3 requests"},
		{408, "RequestTimeout", "Unavailable, RequestTimeout, 3 requests"},
		{413, "RequestEntityTooLarge", "Internal, RequestEntityTooLarge, 1 requests"},
		{503, "ServiceUnavailableException", "Unavailable, ServiceUnavailableException, 3 requests"},
		{400, "SomethingNewException", "Internal, SomethingNewException, 1 requests"},
	} {
		scenario{name: row.code, answer: fails(row.status, row.code), want: row.want}.check(t)
	}
}

// Answers that do not come from DynamoDB, or that have no error code.
func TestErrorForms(t *testing.T) {
	const followed = "since the signature and the session token are for one host only"
	for _, row := range []scenario{
		{name: "no code", answer: always(400, `{"message":"It failed."}`), want: "Internal, UnknownError, 1 requests"},
		{name: "an empty object", answer: always(500, `{}`), want: "Unavailable, UnknownError, 3 requests"},
		{name: "nothing", answer: always(400, ``), want: "Internal, UnknownError, 1 requests"},
		{name: "nothing, of a load balancer", answer: always(502, ``), want: "Unavailable, UnknownError, 3 requests"},
		{name: "HTML, of a load balancer", answer: always(503, "<html>"+written+"</html>", "Content-Type: text/html"), want: "Unavailable, damaged, 3 requests"},
		{name: "HTML, of a proxy", answer: always(403, "<html>Log in.</html>", "Content-Type: text/html"), want: "Unavailable, damaged, 3 requests"},
		{name: "JSON of something else", answer: always(400, `[]`), want: "Unavailable, damaged, 3 requests"},
		{name: "half an error", answer: always(400, `{"__type":"Throttling`), want: "Unavailable, damaged, 3 requests"},
		{name: "a wrong checksum", answer: always(400, `{"__type":"ThrottlingException"}`, "x-amz-crc32: 1"), want: damaged},
		{name: "moved for good", answer: always(301, ``, "Location: http://elsewhere.test/"), want: "Internal, UnknownError, 1 requests", why: followed},
		{name: "moved for now", answer: always(307, ``, "Location: http://elsewhere.test/"), want: "Internal, UnknownError, 1 requests", why: followed},
		{name: "no content", answer: func(p *peer, r *received) bool { return r.write(p.head(http.StatusNoContent, -1)) }, want: damaged},
		{name: "a part of something", answer: always(http.StatusPartialContent, ``), want: damaged},
		{name: "another protocol", answer: func(_ *peer, r *received) bool { return r.write("SSH-2.0-OpenSSH_9.2\r\n") && false }, want: "Unavailable, 3 requests"},
	} {
		row.check(t)
	}
}

// oneItem returns an answer with one item.
func oneItem(r *received) string { return answerOf(r.operation(), `{"PK":{"S":"a"}}`) }

// answerOf returns an answer of an operation with these items, given as JSON.
func answerOf(operation string, items ...string) string {
	const units = `{"TableName":"` + testTable + `","CapacityUnits":0.5}`
	list := strings.Join(items, ",")
	switch operation {
	case "Query":
		return fmt.Sprintf(`{"ConsumedCapacity":%s,"Count":%d,"Items":[%s],"ScannedCount":7,"LastEvaluatedKey":{"PK":{"S":"z"}}}`, units, len(items), list)
	case "BatchGetItem":
		return fmt.Sprintf(`{"ConsumedCapacity":[%s],"Responses":{"%s":[%s]},"UnprocessedKeys":{"%[2]s":{"Keys":[{"PK":{"S":"z"}}]}}}`, units, testTable, list)
	}
	return fmt.Sprintf(`{"ConsumedCapacity":%s,"Item":%s}`, units, list)
}

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
