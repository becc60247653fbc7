package call

import (
	"context"
	"errors"
	"hash"
	"hash/crc32"
	"io"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/middleware"
	smithyhttp "github.com/aws/smithy-go/transport/http"
	"golang.org/x/sync/semaphore"

	"github.com/talkback/talkback/internal/task"
)

// How many bytes of answers a client reads and decodes at a time. To decode an answer, the SDK
// takes some five times its size. Nearly all answers are small: they have room of their own, so
// that they do not wait for answers of up to 16 MB.
const (
	smallBody = 64 << 10
	smallRoom = 2 << 20
	largeRoom = 2 << 20
)

// answerWithin bounds one attempt at a call, with the wait for room and the reading of the answer.
// Loops in the background, such as one that reads a shard of the stream while it renews its lease,
// have no other bound, so a call whose answer never ends would stop them for good.
const answerWithin = time.Minute

// mostAnswer is the maximum size of an answer in bytes. JSON can make a batch of 16 MB six times as
// large. DynamoDB sends no larger answer.
const mostAnswer = 128 << 20

// answers verifies the answers of a client, and bounds the memory that they take. It consists of
// two middlewares around the SDK's decoder. It is safe for concurrent use.
//
// An answer takes room for its Content-Length from its headers until it is decoded. It waits for
// room in the order in which headers arrive, until its call's context ends. An answer that is
// larger than the room, or of unknown length, takes the whole room for large ones. This cannot
// deadlock: an answer with room is only read and decoded, which waits neither for room nor for
// internal/usage.
type answers struct {
	small, large *semaphore.Weighted
}

func newAnswers() *answers {
	return &answers{small: semaphore.NewWeighted(smallRoom), large: semaphore.NewWeighted(largeRoom)}
}

// of is an option that makes a client verify its answers. Copies of the client share its room for
// answers.
func (a *answers) of(o *dynamodb.Options) {
	o.APIOptions = append(o.APIOptions, func(stack *middleware.Stack) error {
		return errors.Join(
			stack.Deserialize.Insert(middleware.DeserializeMiddlewareFunc("RefuseDamaged", refuseDamaged), "OperationDeserializer", middleware.Before),
			stack.Deserialize.Add(middleware.DeserializeMiddlewareFunc("VerifyAnswer", a.verify), middleware.After))
	})
	o.DisableValidateResponseChecksum = true // the SDK's own only logs a wrong one
}

// verify replaces the body of the answer by one that verifies it while the SDK's decoder reads.
func (a *answers) verify(
	ctx context.Context, in middleware.DeserializeInput, next middleware.DeserializeHandler,
) (middleware.DeserializeOutput, middleware.Metadata, error) {
	within, cancel := context.WithTimeout(ctx, answerWithin)
	out, metadata, err := next.HandleDeserialize(within, in)
	if arrived, ok := middleware.GetStackValue(ctx, arrivedKey{}).(*bool); ok {
		*arrived = true
	}
	response, ok := out.RawResponse.(*smithyhttp.Response)
	if err != nil || !ok {
		cancel()
		return out, metadata, err
	}
	room, size := a.roomFor(response.ContentLength)
	if err := room.Acquire(ctx, size); err != nil {
		cancel()
		_ = response.Body.Close() // it is not read
		response.Body = http.NoBody
		return out, metadata, err
	}
	response.Body = &body{
		ReadCloser: response.Body,
		most:       mostAnswer,
		claimed:    response.Header.Get("X-Amz-Crc32"),
		needed:     success(response.Response),
		checksum:   crc32.NewIEEE(),
		release:    sync.OnceFunc(func() { cancel(); room.Release(size) }),
	}
	return out, metadata, nil
}

// roomFor returns the room for an answer, and how much of it the answer takes. A negative length is
// unknown.
func (a *answers) roomFor(length int64) (room *semaphore.Weighted, size int64) {
	switch {
	case length < 0 || length > largeRoom:
		return a.large, largeRoom
	case length > smallBody:
		return a.large, length
	}
	return a.small, length
}

// errDamaged replaces errors of the SDK's decoder, which may cite text of customers.
var errDamaged = errors.New("the answer is damaged")

// arrivedKey is the key of a stack value: a *bool, set once the transport has returned.
type arrivedKey struct{}

// refuseDamaged returns an error that can be retried for an answer that the SDK cannot decode. Some
// damaged JSON makes the SDK's decoder panic. A panic before the answer has arrived is passed on.
func refuseDamaged(
	ctx context.Context, in middleware.DeserializeInput, next middleware.DeserializeHandler,
) (out middleware.DeserializeOutput, metadata middleware.Metadata, err error) {
	arrived := new(bool)
	ctx = middleware.WithStackValue(ctx, arrivedKey{}, arrived)
	err = task.Try(func() (err error) {
		out, metadata, err = next.HandleDeserialize(ctx, in)
		return err
	})
	panicked, _ := errors.AsType[*task.Panic](err)
	if panicked != nil && !*arrived {
		panic(panicked)
	}
	response, answered := out.RawResponse.(*smithyhttp.Response)
	undecoded := err != nil && out.Result != nil && answered && success(response.Response)
	described, ok := out.Result.(*dynamodb.DescribeTableOutput)
	nothing := ok && err == nil && described.Table == nil // such as {}, of something that is no engine
	if undecoded && !errors.As(err, new(*readError)) || panicked != nil || nothing {
		err = &smithy.DeserializationError{Err: errDamaged}
	}
	return out, metadata, err
}

func success(response *http.Response) bool { return response.StatusCode/100 == 2 }

// body is the body of an answer. Reading it fails at its end unless it has the checksum that the
// header claims, and if the answer of a successful call is empty.
type body struct {
	io.ReadCloser
	most     int64  // maximum size in bytes
	claimed  string // checksum, empty if the answer has none
	needed   bool   // the answer must not be empty
	checksum hash.Hash32
	read     int64
	failed   error
	release  func() // gives its room back
}

// readError is an error of reading an answer. Its text holds nothing of the answer.
type readError struct{ error }

// Unwrap returns the error that the reader returned.
func (e *readError) Unwrap() error { return e.error }

// Read implements [io.Reader].
func (b *body) Read(p []byte) (int, error) {
	if b.failed != nil {
		return 0, b.failed
	}
	n, err := b.ReadCloser.Read(p)
	b.read += int64(n)
	b.checksum.Write(p[:n])
	switch {
	case b.read > b.most:
		err = errors.New("the answer is larger than any of DynamoDB")
	case err == nil:
		return n, nil
	case err != io.EOF:
	case b.read == 0 && b.needed:
		err = errors.New("the answer is empty")
	case b.claimed != "" && b.claimed != strconv.FormatUint(uint64(b.checksum.Sum32()), 10):
		err = errors.New("the answer does not have the checksum it claims")
	default:
		return n, io.EOF
	}
	b.failed = &readError{err}
	return n, b.failed
}

// Close implements [io.Closer]. The SDK calls it once the answer is decoded.
func (b *body) Close() error {
	defer b.release()
	return b.ReadCloser.Close()
}
