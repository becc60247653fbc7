package dynamo

import (
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"
	"github.com/talkback/talkback/comment"
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

	mu   sync.Mutex
	kept *simplelru.LRU[queryKey, keptPage]
}

// keptPage is a page, and when reading it began: it may lack whatever was written since.
type keptPage struct {
	page comment.Page
	read time.Time
}

func newPages(maxAge time.Duration) *pages {
	return &pages{maxAge: maxAge, now: time.Now, kept: newLRU[queryKey, keptPage](pagesKept, nil)}
}

// keeps tells whether the page of a query may be kept: a first page, which many ask for.
func (p *pages) keeps(key queryKey) bool { return p != nil && !key.after.given && !key.before.given }

// keep keeps a page. It was read since it began to be.
func (p *pages) keep(key queryKey, page comment.Page, began time.Time) {
	if !p.keeps(key) || page.Counted != nil && page.Counted.Err != nil || textBytes(page) > largestKept {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.kept.Add(key, keptPage{page: page, read: began})
}

// find finds a page that may be shown now, after its product was last changed at a moment.
func (p *pages) find(key queryKey, changed time.Time) (comment.Page, bool) {
	if !p.keeps(key) {
		return comment.Page{}, false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	kept, found := p.kept.Get(key)
	age := p.now().Sub(kept.read)
	if !found || age >= p.maxAge || !kept.read.After(changed.Add(indexLag)) {
		return comment.Page{}, false
	}
	page := kept.page
	page.Plan.Kept = age
	return page, true
}

// textBytes is the size of the texts of a page, which may be anything, while all else is small.
func textBytes(page comment.Page) int {
	bytes := 0
	for _, c := range page.Comments {
		bytes += len(c.Text) + len(page.Packed[c.ID])
		if c.Title != nil {
			bytes += len(*c.Title)
		}
	}
	return bytes
}
