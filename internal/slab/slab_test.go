package slab_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/talkback/talkback/internal/slab"
)

// Strings stay what they are, whatever is made after them and whatever becomes of the bytes.
func TestStringsStay(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var made slab.Strings
		var want, got []string
		parts := rapid.SliceOf(rapid.SliceOfN(rapid.Byte(), 0, 900)).Draw(t, "parts")
		for i, part := range parts {
			before := []string{"", "c_"}[i%2]
			want, got = append(want, before+string(part)), append(got, made.Join(before, part))
			clear(part)
		}
		for i := range want {
			if got[i] != want[i] {
				t.Fatalf("string %d is %q, want %q", i, got[i], want[i])
			}
		}
	})
}

func TestFewAllocations(t *testing.T) {
	id := []byte("01HZ0000000000000000000000")
	if took := testing.AllocsPerRun(10, func() {
		var made slab.Strings
		for range 60 {
			made.Join("c_", id)
		}
	}); took != 1 {
		t.Errorf("60 strings take %v allocations, want 1", took)
	}
}
