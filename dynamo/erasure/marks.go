package erasure

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"sync"
	"time"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/call"
	"github.com/talkback/talkback/dynamo/layout"
)

// A mark is an item with the digest of an author's id and no personal data. While the author is being
// erased it blocks all of the author's comments in imports, and from then on those of before the end.
const (
	markPK    = "ERASED" // the digest of the author is the sort key
	attrUntil = "un"     // N, milliseconds since 1970: when the erasure ended; missing until then
)

// marksAge is the age from which on marks are read again before a comment is imported.
const marksAge = 10 * time.Second

// PutTimeout bounds a put of an import. An erasure looks for comments once more when every put that
// knew nothing of its mark has ended: after marksAge and PutTimeout, and as long again for requests that
// arrive late.
const PutTimeout = 10 * time.Second

// settle is the time between a mark and the pass after which no import adds a comment of its author.
const settle = marksAge + 2*PutTimeout

// digestOf returns the sort key of the mark and the job of an author.
func digestOf(author comment.Author) string {
	text, err := json.Marshal([]any{"erased", author.Imported, author.ID})
	if err != nil {
		panic("erasure: " + err.Error()) // texts and flags only
	}
	hash := sha256.Sum256(text)
	return hex.EncodeToString(hash[:])
}

// Marks knows which authors were erased. It is safe for concurrent use.
type Marks struct {
	client call.Querier
	table  string
	age    time.Duration // marksAge

	mu    sync.Mutex // guards the fields below, and lets one caller read for all
	read  time.Time  // when the marks were read; zero for never
	until map[string]time.Time
}

// NewMarks makes the marks of a table.
func NewMarks(client call.Querier, table string) *Marks {
	return &Marks{client: client, table: table, age: marksAge}
}

// Erased reports whether a comment is of an author who was erased, and not written since. An erased
// customer's id is that of an imported author too: files of the shop's own older systems rarely say that
// their authors are customers. It reads the marks if they are older than marksAge: half a read unit while
// there are none.
func (m *Marks) Erased(ctx context.Context, c comment.Comment) (bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.read.IsZero() || time.Since(m.read) >= m.age {
		if err := m.readAll(ctx); err != nil {
			return false, err
		}
		if time.Since(m.read) >= m.age { // an erasure relies on how old marks may be
			return false, comment.Errorf(comment.Unavailable, "reading which authors were erased took too long; try again")
		}
	}
	if len(m.until) == 0 {
		return false, nil
	}
	author := c.Author
	if author.Imported && m.blocks(author, c.CreatedAt()) {
		return true, nil
	}
	author.Imported = false
	return m.blocks(author, c.CreatedAt()), nil
}

func (m *Marks) blocks(author comment.Author, written time.Time) bool {
	until, marked := m.until[digestOf(author)]
	return marked && (until.IsZero() || !written.After(until))
}

func (m *Marks) readAll(ctx context.Context) error {
	began, until := time.Now(), map[string]time.Time{}
	items, _, err := call.Partition(ctx, m.client, m.table, layout.Text(markPK), "marks of erased authors")
	if err != nil {
		return err
	}
	for _, it := range items {
		r := layout.NewReader(it)
		until[r.Text(layout.AttrSK)] = r.OptionalTime(attrUntil)
	}
	m.read, m.until = began, until
	return nil
}
