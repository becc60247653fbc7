package call

import (
	"io"
	"net/http"
	"sync/atomic"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"golang.org/x/sync/semaphore"
)

// How many bytes of answers a client reads and decodes at a time. Decoding takes the SDK some five
// times the memory of the answer. Nearly all answers are small: they have room of their own, so
// that they do not wait for answers of up to 16 MB.
const (
	smallBody = 64 << 10
	smallRoom = 2 << 20
	largeRoom = 2 << 20
)

// bounded is an HTTP client that limits the bytes of answers being read. An answer takes room for
// its Content-Length from its headers until its body is closed. It waits for room in the order in
// which headers arrive, until its request's context ends. An answer that is larger than the room,
// or of unknown length, takes the whole room for large ones. It is safe for concurrent use.
//
// It cannot deadlock: an answer with room is only read and decoded, which waits neither for room
// nor for internal/usage.
type bounded struct {
	under        dynamodb.HTTPClient
	small, large *semaphore.Weighted
	pass         func() // see InTurns; nil without
}

func newBounded(under dynamodb.HTTPClient) *bounded {
	return &bounded{under: under, small: semaphore.NewWeighted(smallRoom), large: semaphore.NewWeighted(largeRoom)}
}

// Do implements [dynamodb.HTTPClient].
func (b *bounded) Do(request *http.Request) (*http.Response, error) {
	response, err := b.under.Do(request)
	if err != nil {
		return nil, err
	}
	if b.pass != nil {
		b.pass()
	}
	room, size := b.roomFor(response.ContentLength)
	if err := room.Acquire(request.Context(), size); err != nil {
		_ = response.Body.Close() // it is not read
		return nil, err
	}
	response.Body = &body{ReadCloser: response.Body, room: room, size: size}
	return response, nil
}

// roomFor returns the room that an answer takes, and how much of it. A negative length is an
// unknown one.
func (b *bounded) roomFor(length int64) (room *semaphore.Weighted, size int64) {
	switch {
	case length < 0 || length > largeRoom:
		return b.large, largeRoom
	case length > smallBody:
		return b.large, length
	}
	return b.small, length
}

// around returns the client with its inner client wrapped. The time that a call waits for room is
// not part of a wrapped call.
func (b *bounded) around(wrap func(under dynamodb.HTTPClient) dynamodb.HTTPClient) *bounded {
	return &bounded{wrap(b.under), b.small, b.large, b.pass}
}

// body is the body of an answer that holds room until it is closed.
type body struct {
	io.ReadCloser
	room   *semaphore.Weighted
	size   int64
	closed atomic.Bool
}

// Close implements [io.Closer]. The SDK calls it once the answer is decoded.
func (b *body) Close() error {
	defer func() {
		if !b.closed.Swap(true) {
			b.room.Release(b.size)
		}
	}()
	return b.ReadCloser.Close()
}
