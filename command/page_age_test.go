package command_test

import (
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo"
	"github.com/talkback/talkback/internal/commenttest"
)

// A server that caches first pages shows one again without reading it. Once the stream has
// delivered them, it shows writes of others, however long it may cache.
func TestPagesAreKeptUntilTheyChange(t *testing.T) {
	t.Parallel()
	a, _ := uncounted(t)
	s := serveTable(t, a, "--page-age", "24h")
	a.drained(time.Now())
	const asked = `{ product(id: "globe") { comments(first: 1) { nodes { id } plan { age readUnits } } } }`
	kept := regexp.MustCompile(`"age":[0-9.]*[1-9]`)
	eventually(t, "a page is kept", func() bool { return kept.MatchString(s.ask(asked)) })

	c := commenttest.Random(commenttest.Rand(t), "globe")
	c.ID = comment.IDOf(comment.PositionAt(time.Now(), [10]byte{}))
	if _, err := dynamo.NewStore(a.session.Client, a.session.Table, dynamo.Options{}).Add(t.Context(), c, ""); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the page has what another process wrote", func() bool { return strings.Contains(s.ask(asked), string(c.ID)) })
	s.signal(syscall.SIGTERM)
	if status, said := s.wait(); status != 0 {
		t.Errorf("status %d: %s", status, said)
	}
}
