package dynamo

import (
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"github.com/talkback/talkback/comment"
)

const (
	// indexLag is how long after a change no page is cached, because an index may not have the
	// change yet.
	indexLag = time.Second
	// pagesKept bounds the number of pages, largestKept the bytes of text in each: 16 MB in all.
	pagesKept   = 256
	largestKept = 64 << 10
)

// pageCache keeps the first pages of lists for maxAge, and as long as they are proven unchanged. So a
// popular product costs one read in that time and not one for each visitor. An empty cache, after a restart, causes no
// burst: flights reads each page once for all callers.
//
// A cached page is not shown once this Store has changed its product or the stream has told of a
// change. The nil pageCache caches nothing. It is safe for use by many goroutines.
type pageCache struct {
	maxAge time.Duration
	now    func() time.Time
	// unchanged is proof.unchanged.
	unchanged func(read, changed time.Time) bool

	mu   sync.Mutex
	kept *simplelru.LRU[queryKey, keptPage]
}

// keptPage is a page and the time when reading it began. It may lack what was written since.
type keptPage struct {
	page sharedPage
	read time.Time
}

func newPageCache(maxAge time.Duration, unchanged func(read, changed time.Time) bool) *pageCache {
	return &pageCache{maxAge: maxAge, now: time.Now, unchanged: unchanged, kept: newLRU[queryKey, keptPage](pagesKept, nil)}
}

// keeps tells whether the page of a query may be cached: only first pages, which many clients
// request.
func (p *pageCache) keeps(key queryKey) bool {
	return p != nil && key.given&(afterGiven|beforeGiven) == 0 && key.number <= 1
}

// keep caches a page that was read from a moment on.
func (p *pageCache) keep(key queryKey, page sharedPage, began time.Time) {
	if !p.keeps(key) || page.Incomplete() || textBytes(page) > largestKept {
		return
	}
	plan := page.Plan() // now: what makes it holds all that was read, also what the page does not show
	page.Explain = func() comment.QueryPlan { return plan }
	p.mu.Lock()
	defer p.mu.Unlock()
	p.kept.Add(key, keptPage{page: page, read: began})
}

// find returns a cached page that may be shown now, given when its product was last changed.
func (p *pageCache) find(key queryKey, changed time.Time) (sharedPage, bool) {
	if !p.keeps(key) {
		return sharedPage{}, false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	kept, found := p.kept.Get(key)
	age := p.now().Sub(kept.read)
	if !found || !kept.read.After(changed.Add(indexLag)) {
		return sharedPage{}, false
	}
	// What is settled changes with the time.
	if age >= p.maxAge && (key.settledOnly || !p.unchanged(kept.read, changed)) {
		return sharedPage{}, false
	}
	page := kept.page
	page.Explain = func() comment.QueryPlan {
		plan := kept.page.Plan()
		plan.Kept = age
		return plan
	}
	return page, true
}

// textBytes is the size of the texts and titles of a page in bytes. Everything else in it is small.
func textBytes(page sharedPage) int {
	bytes := 0
	for i := range page.comments {
		c := &page.comments[i]
		bytes += len(c.Text) + len(c.CompressedText)
		if c.Title != nil {
			bytes += len(*c.Title)
		}
	}
	return bytes
}
