package persisted

import (
	"container/list"
	"context"
	"strings"
	"sync"
)

// perQuery is about what a query takes in memory beside its text, in bytes.
const perQuery = 400

// Automatic remembers the queries that clients registered, up to a number of bytes. It forgets those
// first that were not asked for the longest. It is safe for concurrent use.
type Automatic struct {
	limit  int
	shared Shared

	mu     sync.Mutex
	held   int
	latest *list.List // of query, the latest first
	byHash map[string]*list.Element
}

// Shared remembers queries for several servers. It may forget any, and takes little time even when it
// is away. The caller checks the hash of what it finds.
type Shared interface {
	Find(ctx context.Context, hash string) (text string)
	Add(ctx context.Context, hash, text string)
}

type query struct{ hash, text string }

func (q query) size() int { return perQuery + len(q.text) }

// NewAutomatic returns an empty memory of limit bytes. shared may be nil.
func NewAutomatic(limit int, shared Shared) *Automatic {
	return &Automatic{limit: limit, shared: shared, latest: list.New(), byHash: map[string]*list.Element{}}
}

// Find returns the text with a hash, as HashOf makes it.
func (a *Automatic) Find(ctx context.Context, hash string) (text string, found bool) {
	if text, found = a.find(hash); found || a.shared == nil {
		return text, found
	}
	text = a.shared.Find(ctx, hash)
	if text == "" || HashOf(text) != hash {
		return "", false
	}
	a.keep(query{hash, text})
	return text, true
}

func (a *Automatic) find(hash string) (text string, found bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	at, found := a.byHash[hash]
	if !found {
		return "", false
	}
	a.latest.MoveToFront(at)
	return at.Value.(query).text, true
}

// Add remembers a text, whose hash the caller has checked. Other servers learn of it each time: one of
// them did not know it, or the client would not have sent it.
func (a *Automatic) Add(ctx context.Context, hash, text string) {
	if _, known := a.find(hash); !known {
		a.keep(query{strings.Clone(hash), strings.Clone(text)}) // not the request around them
	}
	if a.shared != nil {
		a.shared.Add(ctx, hash, text)
	}
}

// keep remembers a query, unless it is larger than the whole memory.
func (a *Automatic) keep(q query) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if _, known := a.byHash[q.hash]; known || q.size() > a.limit {
		return
	}
	a.byHash[q.hash] = a.latest.PushFront(q)
	for a.held += q.size(); a.held > a.limit; {
		oldest := a.latest.Remove(a.latest.Back()).(query)
		delete(a.byHash, oldest.hash)
		a.held -= oldest.size()
	}
}
