package httpapi

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/talkback/talkback/internal/edge"
)

// However many answers are shared, about whatever products, the memory for them is bounded and its
// size is correct.
func TestSharedAnswersAreBounded(t *testing.T) {
	s := newSharedAnswers(func([]string, time.Time) bool { return true })
	header := http.Header{}
	for i := range 3000 {
		var products []string
		for range i % (edge.MaxProducts + 1) {
			products = append(products, strings.Repeat("x", 128))
		}
		if edge.Sharing(time.Second).Allow(header, products) {
			header.Set("ETag", fmt.Sprint(i/2)) // the same tag twice
			(&sharedAnswer{of: s, products: products}).keep(header)
		}
	}
	held := 0
	for _, a := range s.kept.Values() {
		held += a.size()
	}
	if held != s.bytes || held > maxShared || held < maxShared/2 {
		t.Errorf("%d bytes in %d answers, counted as %d", held, s.kept.Len(), s.bytes)
	}
}
