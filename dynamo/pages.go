package dynamo

import (
	"context"
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/stream"
)

const (
	// indexLag is how long after a change no page is kept, as an index may lack it yet.
	indexLag = time.Second
	// pagesKept is how many pages are kept at most, and largestKept how many bytes of text one of them may hold: 16 MB in all.
	pagesKept   = 256
	largestKept = 64 << 10
)

// pages keeps the first pages of lists for a moment, so that a product at which everyone looks costs a read in that time and
// not one for each visitor. When they are lost, at a restart say, what was spared comes back: a read at a time for each page,
// as flights see to.
//
// A page is no longer shown once its product was changed by this Store, or once the stream told this process of a change.
type pages struct {
	maxAge time.Duration
	now    func() time.Time

	mu      sync.Mutex
	kept    *simplelru.LRU[flightKey, keptPage]
	changes *changes
}

// keptPage is a page, and when reading it began: it may lack whatever was written since.
type keptPage struct {
	page comment.Page
	read time.Time
}

// KeepPages has the Store keep first pages for so long; 0 keeps none. It is to be called before the first question.
func (s *Store) KeepPages(maxAge time.Duration) {
	if maxAge > 0 {
		s.pages = newPages(maxAge)
	}
}

// Noticing is a handler of a table's stream which has the Store drop the pages it keeps of products that records tell of, after
// the handler did its work. It is to be called after KeepPages.
func (s *Store) Noticing(handler stream.Handler) stream.Handler {
	if s.pages == nil {
		return handler
	}
	return noticing{handler, s.pages}
}

type noticing struct {
	stream.Handler
	pages *pages
}

// Handle implements stream.Handler.
func (n noticing) Handle(ctx context.Context, records []stream.Record) error {
	err := n.Handler.Handle(ctx, records)
	for _, record := range records {
		if product, _, concerns, err := standingOf(record); err == nil && concerns {
			n.pages.changed(product)
		}
	}
	return err
}

func newPages(maxAge time.Duration) *pages {
	return &pages{maxAge: maxAge, now: time.Now, kept: newLRU[flightKey, keptPage](pagesKept, nil), changes: newChanges()}
}

// through gives the page that is kept, if it may still be shown, and else what is read, which it keeps if it is a first
// page.
func (p *pages) through(q comment.Query, read func() (comment.Page, error)) (comment.Page, error) {
	if p == nil || q.Slice.After != nil || q.Slice.Before != nil {
		return read()
	}
	key, began := flightKeyOf(q, 0), p.now()
	if page, found := p.find(key, began); found {
		return page, nil
	}
	page, err := read()
	if err == nil && (page.Counted == nil || page.Counted.Err == nil) && textBytes(page) <= largestKept {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.kept.Add(key, keptPage{page: page, read: began})
	}
	return page, err
}

// find finds a page that may be shown at a moment.
func (p *pages) find(key flightKey, now time.Time) (comment.Page, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	kept, found := p.kept.Get(key)
	age := now.Sub(kept.read)
	if !found || age >= p.maxAge || !kept.read.After(p.changes.last(key.product).Add(indexLag)) {
		return comment.Page{}, false
	}
	page := kept.page
	page.Plan.Kept = age
	return page, true
}

// changed notes that a product was changed: what is kept of it, or being read, may lack that.
func (p *pages) changed(product string) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.changes.note(product, p.now())
}

// textBytes is the size of the texts of a page, which may be anything, while all else is small.
func textBytes(page comment.Page) int {
	bytes := 0
	for _, c := range page.Comments {
		bytes += len(c.Text)
		if c.Title != nil {
			bytes += len(*c.Title)
		}
	}
	return bytes
}
