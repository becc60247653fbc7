package dynamo

import (
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"github.com/talkback/talkback/comment"
)

const (
	// unheardFor is how old the watermark may be: for so long at most, a change is not shown.
	unheardFor = 3 * time.Second
	// provenFor is how long anything is shown without being read again. It bounds what a change does
	// that the stream does not tell as one of a comment, such as an item that becomes unreadable.
	provenFor = 10 * time.Minute
)

// proof is what Options.Following says. A Store whose process reads all shards of the stream hears of
// every change. So what it read of a product is still so, as long as no change of the product came and
// the watermark is young.
type proof func() (since, upTo time.Time, ok bool)

// unchanged reports whether what was read of a product from a moment on is proven to be as it was
// unheardFor ago. changed is the last change of the product that the Store knows of. An index may lag
// behind a change by moveAge, and another process may have heard of those just before this one began to
// follow.
func (p proof) unchanged(read, changed time.Time) bool {
	now := time.Now()
	if p == nil || now.Sub(read) > provenFor || read.Before(changed.Add(moveAge)) {
		return false
	}
	since, upTo, ok := p()
	return ok && now.Sub(upTo) <= unheardFor && read.After(since.Add(moveAge))
}

// namedComments keeps comments that were fetched by their ids beside first pages, as long as they are
// proven unchanged. The nil namedComments keeps none.
type namedComments struct {
	proof   proof
	changes *changes

	mu   sync.Mutex
	kept *simplelru.LRU[namedKey, namedComment]
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

func newNamedComments(p proof, c *changes) *namedComments {
	return &namedComments{proof: p, changes: c, kept: newLRU[namedKey, namedComment](pagesKept, nil)}
}

// find returns the comments that are kept, and the ids of the others.
func (n *namedComments) find(ids []comment.ID, withoutText bool) (others []comment.ID, found map[comment.ID]*comment.Comment) {
	found = map[comment.ID]*comment.Comment{}
	if n == nil {
		return ids, found
	}
	n.mu.Lock()
	defer n.mu.Unlock()
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

// keep keeps comments that were read from a moment on. A nil one was not there.
func (n *namedComments) keep(fetched map[comment.ID]*comment.Comment, withoutText bool, began time.Time) {
	if n == nil {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	for id, c := range fetched {
		if c != nil {
			n.kept.Add(namedKey{id, withoutText}, namedComment{*c, began})
		}
	}
}
