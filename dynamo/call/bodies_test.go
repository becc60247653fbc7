package call

import (
	"context"
	"errors"
	"hash/crc32"
	"io"
	"math"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/smithy-go/middleware"
	smithyhttp "github.com/aws/smithy-go/transport/http"
	"pgregory.net/rapid"

	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/internal/faulttest"
)

// open opens a body of a length for verification, as if it had been received.
func (a *answers) open(ctx context.Context, length int64) (io.ReadCloser, error) {
	response := &smithyhttp.Response{Response: &http.Response{ContentLength: length, Body: io.NopCloser(strings.NewReader(""))}}
	_, _, err := a.verify(ctx, middleware.DeserializeInput{}, middleware.DeserializeHandlerFunc(
		func(context.Context, middleware.DeserializeInput) (middleware.DeserializeOutput, middleware.Metadata, error) {
			return middleware.DeserializeOutput{RawResponse: response}, middleware.Metadata{}, nil
		}))
	return response.Body, err
}

// Answers of any lengths that are read at the same time fit into their room. Each is read in the
// end. All room is free afterwards, though bodies are closed twice.
func TestBodiesFitIntoTheirRoom(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		lengths := rapid.SliceOfN(rapid.SampledFrom([]int64{-1, 0, 900, smallBody, smallBody + 1, 1 << 20, largeRoom, 16 << 20}), 1, 60).Draw(rt, "lengths")
		synctest.Test(t, func(t *testing.T) {
			a := newAnswers()
			var small, large atomic.Int64
			var group sync.WaitGroup
			for i, length := range lengths {
				group.Go(func() {
					room, size := a.roomFor(length)
					held, most := &small, int64(smallRoom)
					if room == a.large {
						held, most = &large, largeRoom
					}
					body := mustOpen(t, a, length)
					if now := held.Add(size); now > most {
						t.Errorf("%d bytes are read at a time, more than %d", now, most)
					}
					time.Sleep(time.Duration(i) * time.Millisecond)
					held.Add(-size)
					_ = body.Close()
					_ = body.Close() // closing it again does no harm
				})
			}
			group.Wait()
			if !a.small.TryAcquire(smallRoom) || !a.large.TryAcquire(largeRoom) {
				t.Error("room is still taken after all answers were closed")
			}
		})
	})
}

// A large answer that stays open makes other large answers wait, for as long as their calls last.
// Small answers do not wait.
func TestSmallBodiesDoNotWaitForLargeOnes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAnswers()
		large := mustOpen(t, a, largeRoom)
		mustOpen(t, a, 900)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := a.open(ctx, largeRoom); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a second large answer: %v", err)
		}
		_ = large.Close()
		mustOpen(t, a, largeRoom)
	})
}

func mustOpen(t *testing.T, a *answers, length int64) io.ReadCloser {
	t.Helper()
	return must.Get(a.open(t.Context(), length))(t)
}

// claiming answers every call with one response and a checksum.
type claiming struct {
	status         int
	body, checksum string
	calls          int
}

// Do implements [dynamodb.HTTPClient].
func (c *claiming) Do(request *http.Request) (*http.Response, error) {
	c.calls++
	answer := faulttest.Answer(request, c.status, c.body)
	if c.checksum != "" {
		answer.Header.Set("X-Amz-Crc32", c.checksum)
	}
	return answer, nil
}

// An answer that was damaged on its way is never accepted. A read is retried. A write is not: its
// caller first has to find out its outcome.
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
					_, err = client.Query(t.Context(), queryOf("42"))
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

// An answer without an end is given up, even if it announced no length. Closing it reads nothing
// more.
func TestEndlessAnswerIsGivenUp(t *testing.T) {
	const most = 1 << 20
	for _, size := range []int64{most, most + 1, math.MaxInt64} {
		b := body{ReadCloser: io.NopCloser(io.LimitReader(zeros{}, size)), most: most, checksum: crc32.NewIEEE()}
		read, err := io.Copy(io.Discard, &b)
		if (err == nil) != (size == most) || read > most+64<<10 {
			t.Errorf("of %d bytes %d are read: %v", size, read, err)
		}
		if more, _ := io.Copy(io.Discard, &b); more > 0 {
			t.Errorf("of %d bytes %d more are read", size, more)
		}
	}
}

// zeros is an endless reader.
type zeros struct{}

// Read implements [io.Reader].
func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}
