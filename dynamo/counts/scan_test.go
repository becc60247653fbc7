package counts

import (
	"strconv"
	"strings"
	"testing"

	"github.com/talkback/talkback/internal/commenttest"
)

// A scan holds the names of all products until it ends, and nothing else of its pages.
func TestProductsOfAScanAreKeptAlone(t *testing.T) {
	const pages, size = 32, 1 << 20
	var s productSet
	before, fresh := commenttest.Heap(), 0
	for i := range pages {
		names, _, _ := s.fresh([]string{strings.Repeat(strconv.Itoa(i)+"-", size)[:3], "everywhere"})
		fresh += len(names)
	}
	if grown := commenttest.Heap() - before; fresh != pages+1 || grown > pages*size/4 {
		t.Errorf("%d products keep %d bytes in memory", fresh, grown)
	}
	s.fresh(nil) // it is in use
}
