package dynamo

import (
	"cmp"
	"context"
	"sync"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/internal/task"
)

// flightTimeout bounds a read whose caller has no deadline.
const flightTimeout = 10 * time.Second

// flights reads a page once for all callers that want it at the same time, as singleflight does. A
// page is at most as old as its read took. After a change that the Store knows of, a caller joins
// no read that began before the change.
//
// The first caller leads: it reads in its own goroutine with its own context, so an unshared page
// costs only a map lookup. The others wait for the leader and may leave at any time. If the leader
// is canceled or times out, they read again, together.
type flights struct {
	mu    sync.Mutex
	under map[flightKey]*flight
}

// flightKey identifies a read that callers may share: the query, and the number of the last change
// of its product.
type flightKey struct {
	queryKey
	changes uint64
}

// flight is one read under way.
type flight struct {
	landed chan struct{} // closed when page and err are set; nil while there is no follower
	page   sharedPage
	err    error
	// leadersOwn is set if the read failed, or its page lacks counts or page numbers, for a reason of
	// its leader alone: it was canceled or timed out, or its operation already holds too much text. A
	// follower then reads again.
	leadersOwn bool
}

// join reads a page, or waits for a caller that reads the same one. If read panics, all of them get
// an error. The page is shared, so do not change it.
func (f *flights) join(ctx context.Context, key flightKey, read func(context.Context) (sharedPage, error)) (page sharedPage, err error) {
	shared, leads := f.board(key)
	for ; !leads; shared, leads = f.board(key) {
		select {
		case <-ctx.Done():
			return sharedPage{}, ctx.Err()
		case <-shared.landed:
			if !shared.leadersOwn {
				return shared.page, shared.err
			}
		}
	}
	defer func() { // the flight has ended: the next caller begins a new one
		page, err = shared.page, shared.err
		failed := cmp.Or(err, page.Lacks())
		shared.leadersOwn = failed != nil && ctx.Err() != nil || comment.KindOf(failed) == comment.TooMuchText
		if err != nil {
			err = cmp.Or(ctx.Err(), err) // the read's own error may say less
		}
		f.mu.Lock()
		defer f.mu.Unlock()
		delete(f.under, key)
		if shared.landed != nil {
			close(shared.landed)
		}
	}()
	defer task.Recover(&shared.err)
	bounded := ctx
	if _, limited := ctx.Deadline(); !limited {
		var cancel context.CancelFunc
		bounded, cancel = context.WithTimeout(ctx, flightTimeout)
		defer cancel()
	}
	shared.page, shared.err = read(bounded)
	return shared.page, shared.err
}

// board returns the flight that reads the page already, or a new one for the caller to lead.
func (f *flights) board(key flightKey) (shared *flight, leads bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	shared = f.under[key]
	if shared == nil {
		leads = true
		shared = new(flight)
		if f.under == nil {
			f.under = map[flightKey]*flight{}
		}
		f.under[key] = shared
	} else if shared.landed == nil {
		shared.landed = make(chan struct{})
	}
	return shared, leads
}

// sharedPage is a page that callers share: texts that are stored compressed stay compressed.
type sharedPage struct {
	comment.Page // without its comments
	comments     []layout.Compressed
}

const (
	// indexLag is how long after a change no page is cached, because an index may not have the
	// change yet.
	indexLag = time.Second
	// pagesKept bounds the number of pages, and of comments that were fetched by id. largestKept
	// bounds the bytes of text in each: 16 MB of pages in all, and as much of comments.
	pagesKept   = 256
	largestKept = 64 << 10
)

// pageCache keeps the first pages of lists for maxAge, and longer while they are proven unchanged.
// So a popular product costs one read per maxAge instead of one per visitor. An empty cache, after
// a restart, causes no burst: flights reads each page once for all callers.
//
// A cached page is not shown once this Store has changed its product or the stream has reported a
// change. The nil pageCache caches nothing. It is safe for use by many goroutines.
type pageCache struct {
	maxAge time.Duration
	proof  proof
	kept   *lru.Cache[queryKey, keptPage]
}

// keptPage is a page and the time when reading it began. It may lack later writes.
type keptPage struct {
	page sharedPage
	read time.Time
}

func newPageCache(maxAge time.Duration, p proof) *pageCache {
	return &pageCache{maxAge: maxAge, proof: p, kept: newLRU[queryKey, keptPage](pagesKept, nil)}
}

// keeps reports whether the page of a query may be cached: only first pages, which many clients
// request.
func (p *pageCache) keeps(key queryKey) bool {
	return p != nil && key.given&(afterGiven|beforeGiven) == 0 && key.number <= 1
}

// keep caches a page; began is when reading it began.
func (p *pageCache) keep(key queryKey, page sharedPage, began time.Time) {
	if !p.keeps(key) || page.Lacks() != nil {
		return
	}
	bytes := 0
	for i := range page.comments {
		bytes += page.comments[i].TextBytes() + len(page.comments[i].CompressedText)
	}
	if bytes > largestKept {
		return
	}
	plan := page.Plan() // made now, because the closure holds everything that was read, shown or not
	page.Explain = func() comment.QueryPlan { return plan }
	p.kept.Add(key, keptPage{page: page, read: began})
}

// find returns a cached page that may still be shown; changed is when its product was last changed.
func (p *pageCache) find(key queryKey, changed time.Time) (sharedPage, bool) {
	if !p.keeps(key) {
		return sharedPage{}, false
	}
	kept, found := p.kept.Get(key)
	age := task.Elapsed(kept.read, time.Now())
	if !found || !kept.read.After(changed.Add(indexLag)) {
		return sharedPage{}, false
	}
	// Which comments are settled changes as time passes.
	if age >= p.maxAge && (key.settledOnly || !p.proof.unchanged(kept.read, changed)) {
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

const (
	// unheardFor is the maximum age of the watermark, and so how long a page may lack a change.
	unheardFor = 3 * time.Second
	// provenFor is how long a page is shown at most without being read again. It bounds the effect
	// of changes that the stream does not report as changes of a comment: an item that becomes
	// unreadable, say.
	provenFor = 10 * time.Minute
)

// proof is Options.Following. A Store whose process reads all shards of the stream hears of every
// change. So a page is unchanged as long as no change of its product came and the watermark is
// young. The nil proof proves nothing.
type proof func() (since, upTo time.Time, ok bool)

// unchanged reports whether data of a product, whose read began at read, is proven to have been
// current unheardFor ago. changed is the last change of the product that the Store knows of. It
// allows for an index that lags behind by moveAge. It also allows for changes that only another
// process heard of, just before this one began to follow.
func (p proof) unchanged(read, changed time.Time) bool {
	now := time.Now()
	if p == nil || task.Elapsed(read, now) > provenFor || read.Before(changed.Add(moveAge)) {
		return false
	}
	since, upTo, ok := p()
	return ok && task.Elapsed(upTo, now) <= unheardFor && read.After(since.Add(moveAge))
}

// namedComments caches comments that were fetched by id beside first pages, while they are proven
// unchanged. The nil namedComments caches none.
type namedComments struct {
	proof   proof
	changes *changes
	kept    *lru.Cache[namedKey, namedComment]
}

type namedKey struct {
	id          comment.ID
	withoutText bool
}

// namedComment is a comment and the time when reading it began.
type namedComment struct {
	comment.Comment
	read time.Time
}

// find returns the cached comments, and the ids of the others.
func (n *namedComments) find(ids []comment.ID, withoutText bool) (others []comment.ID, found map[comment.ID]*comment.Comment) {
	found = map[comment.ID]*comment.Comment{}
	if n == nil {
		return ids, found
	}
	for _, id := range ids {
		kept, known := n.kept.Get(namedKey{id, withoutText})
		if !known || !n.proof.unchanged(kept.read, n.changes.last(kept.ProductID)) {
			others = append(others, id)
			continue
		}
		found[id] = &kept.Comment
	}
	return others, found
}

// keep caches comments; began is when reading them began. A nil comment did not exist and is not
// cached, and neither is a large one.
func (n *namedComments) keep(fetched map[comment.ID]*comment.Comment, withoutText bool, began time.Time) {
	if n == nil {
		return
	}
	for id, c := range fetched {
		if c != nil && c.TextBytes() <= largestKept {
			n.kept.Add(namedKey{id, withoutText}, namedComment{*c, began})
		}
	}
}
