package buffer_test

import (
	"bytes"
	"sync"
	"testing"

	"github.com/talkback/talkback/internal/buffer"
)

// What a goroutine writes stays until it gives its buffer back, whatever the size and whatever others
// write meanwhile.
func TestBuffersAreNotShared(t *testing.T) {
	var group sync.WaitGroup
	for letter := range byte(8) {
		group.Go(func() {
			for round := range 200 {
				room := 1 << (round % 20)
				got := buffer.Get(room)
				if len(got) != 0 || cap(got) < room {
					t.Errorf("%d bytes of %d, want none of at least %d", len(got), cap(got), room)
				}
				want := bytes.Repeat([]byte{letter}, room+round)
				if got = append(got, want...); !bytes.Equal(got, want) {
					t.Errorf("%d bytes are not those that were written", len(got))
				}
				buffer.Put(got)
			}
		})
	}
	group.Wait()
}

func TestForeignBuffersAreLeftAlone(t *testing.T) {
	for _, foreign := range [][]byte{nil, {}, []byte("null"), make([]byte, 1, 100_000)} {
		buffer.Put(foreign)
		if got := buffer.Get(1000); cap(got) < 1000 {
			t.Errorf("a buffer of %d bytes, after one of %d was given back", cap(got), cap(foreign))
		}
	}
}
