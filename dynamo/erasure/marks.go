package erasure

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"time"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/call"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/internal/task"
)

// A mark is an item with the digest of an author's id and no personal data. During the erasure it
// keeps imports from adding any comments of the author, afterwards those written before the erasure
// ended.
const (
	markPK    = "ERASED" // the digest of the author is the sort key
	attrUntil = "un"     // N, milliseconds since 1970: when the erasure ended; missing until then
)

// marksAge is the maximum age of marks that an import uses.
const marksAge = 10 * time.Second

// putTimeout bounds a put of an import. An erasure looks for comments once more when every put that
// did not know its mark has ended. That is after marksAge and putTimeout, plus putTimeout for
// requests that arrive late.
const putTimeout = 10 * time.Second

// settle is the time between a mark and the pass after which no import adds a comment of its
// author.
const settle = marksAge + 2*putTimeout

// ErrErased refuses a write of an item by an erased author.
var ErrErased = errors.New("the author was erased")

// digestOf returns the sort key of the mark and the job of an author.
func digestOf(author comment.Author) string {
	return hex.EncodeToString(layout.HashOf("erased", author.Imported, author.ID))
}

// ofAuthor returns the condition that a comment is the author's, and its value.
func ofAuthor(author comment.Author) (condition string, values layout.Item) {
	if author.Imported {
		return layout.AttrAuthorID + " = :author", layout.Item{":author": layout.Binary([]byte(author.ID))}
	}
	return layout.AttrWriter + " = :author", layout.Item{":author": layout.WriterOfComment(author.ID)}
}

// marksClient is the part of the SDK's client that Marks works with.
type marksClient interface {
	call.Querier
	call.Putter
}

// Marks knows which authors were erased. It is safe for concurrent use.
type Marks struct {
	// Exact means that the comments are those of a table, which knows who is a customer: an erased
	// customer does not match the imported authors with the same id, who were not erased there.
	Exact bool

	client  marksClient
	table   string
	marks   *task.Cached[map[string]time.Time] // when each erasure ended, for marksAge
	timeout time.Duration                      // putTimeout
}

// NewMarks makes the marks of a table.
func NewMarks(client marksClient, table string) *Marks {
	return &Marks{client: client, table: table, marks: task.NewCached[map[string]time.Time](marksAge, nil), timeout: putTimeout}
}

// Erased reports whether a comment is of an erased author and was written before the erasure ended.
// Unless Exact is set, the id of an erased customer also matches imported authors: files of older
// systems rarely say that their authors are customers. It reads the marks if they are older than
// marksAge: half a read unit while there are none.
func (m *Marks) Erased(ctx context.Context, c comment.Comment) (bool, error) {
	until, err := m.marks.GetBy(ctx, m.read)
	if err != nil {
		return false, err
	}
	blocked := func(author comment.Author) bool {
		ended, marked := until[digestOf(author)]
		return marked && (ended.IsZero() || !c.CreatedAt().After(ended))
	}
	customer := c.Author
	customer.Imported = false
	return blocked(c.Author) || !m.Exact && blocked(customer), nil
}

func (m *Marks) read(ctx context.Context) (map[string]time.Time, error) {
	began, until := time.Now(), map[string]time.Time{}
	items, _, err := call.Partition(ctx, m.client, m.table, layout.Text(markPK), "marks of erased authors")
	if err != nil {
		return nil, err
	}
	for _, it := range items {
		r := layout.NewReader(it)
		until[r.Text(layout.AttrSK)] = r.OptionalTime(attrUntil)
	}
	if task.Elapsed(began, time.Now()) >= m.marks.Age { // an erasure relies on the maximum age of marks
		return nil, comment.Errorf(comment.Unavailable, "reading which authors were erased took too long; try again")
	}
	return until, nil
}

// Write calls write for an item by the author of a comment. If the author was erased, it returns
// ErrErased instead. An erasure relies on the age of the marks at the write, and on its duration.
// If the write took too long, because the process was suspended, Write checks again and calls
// takeBack if needed.
func (m *Marks) Write(ctx context.Context, by comment.Comment, write, takeBack func(context.Context) error) error {
	began := time.Now()
	if erased, err := m.Erased(ctx, by); erased || err != nil {
		return cmp.Or(err, ErrErased)
	}
	timed, cancel := context.WithTimeout(ctx, m.timeout)
	defer cancel()
	written := write(timed)
	if task.Elapsed(began, time.Now()) < m.timeout {
		return written
	}
	ctx = context.WithoutCancel(ctx)
	erased, err := call.Retried(ctx, func() (bool, error) { return m.Erased(ctx, by) })
	if erased {
		err = cmp.Or(call.Retry(ctx, func() (further bool, err error) { return false, takeBack(ctx) }), ErrErased)
	}
	return cmp.Or(err, written)
}

// Bury replaces a comment of an erased author with a tombstone. It also puts one if there is no
// item, because a write whose answer was lost may still arrive.
func (m *Marks) Bury(ctx context.Context, c comment.Comment) error {
	condition, author := ofAuthor(c.Author)
	put := call.PutIf(m.table, layout.Tombstone(c.ID, rand.Text(), time.Now()), layout.IfAbsent+" OR "+condition, author)
	_, err := call.Done(call.Put(ctx, m.client, put))
	return call.Wrap(err, "PutItem of the tombstone of %s", c.ID)
}
