package call

import (
	"io"
	"net/http"
	"sync"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"golang.org/x/sync/semaphore"
)

// How many bytes of answers a client reads and decodes at a time. The SDK takes some five times as much memory for an answer
// until it is decoded. Nearly all answers are small. They have room of their own, so that they do not wait for the large ones,
// which have up to 16 MB.
const (
	smallBody = 64 << 10
	smallRoom = 2 << 20
	largeRoom = 2 << 20
)

// bounded is an HTTP client that bounds the bytes of answers which are being read, by their Content-Length, from their
// headers until their bodies are closed. It waits for room in the order of the headers, and no longer than the request's
// context lasts. An answer larger than the room, or of unknown length, is the only large one while it is read. It is safe for
// use by many goroutines.
//
// It cannot block for ever: who has room only reads and decodes, and neither waits for more room nor for anything of an
// account of usage, which refuses and never waits.
type bounded struct {
	under        dynamodb.HTTPClient
	small, large *semaphore.Weighted
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
	room, size := b.roomFor(response.ContentLength)
	if err := room.Acquire(request.Context(), size); err != nil {
		_ = response.Body.Close() // nobody reads it
		return nil, err
	}
	response.Body = &body{ReadCloser: response.Body, release: sync.OnceFunc(func() { room.Release(size) })}
	return response, nil
}

// roomFor is where an answer belongs, and how much it takes there. Its length is negative if it is unknown.
func (b *bounded) roomFor(length int64) (room *semaphore.Weighted, size int64) {
	switch {
	case length < 0 || length > largeRoom:
		return b.large, largeRoom
	case length > smallBody:
		return b.large, length
	}
	return b.small, length
}

// around is the client with another one beneath it, in whose calls waiting for room is no part.
func (b *bounded) around(wrap func(under dynamodb.HTTPClient) dynamodb.HTTPClient) *bounded {
	return &bounded{under: wrap(b.under), small: b.small, large: b.large}
}

// body is the body of an answer for which there is room.
type body struct {
	io.ReadCloser
	release func()
}

// Close implements [io.Closer]. The SDK calls it once the answer is decoded.
func (b *body) Close() error {
	defer b.release()
	return b.ReadCloser.Close()
}
