package loaders

import (
	"context"
	"errors"
	"sync"

	"github.com/talkback/talkback/comment"
)

// PageKey identifies a page that several fields of an operation look at.
type PageKey struct {
	// Product is the product whose comments the page lists.
	Product string
	// Field is the field that asks for the page, or what stands for it if none does.
	Field any
}

// errUnread is the error of a page whose reading panicked.
var errUnread = errors.New("the page could not be read")

// pages are the pages that were read for a request.
type pages struct {
	mu   sync.Mutex
	read map[PageKey]*answer[comment.Page] // nil until the first
}

// get returns the page of a key, which the first caller reads.
func (p *pages) get(ctx context.Context, key PageKey, read func(context.Context) (comment.Page, error)) (comment.Page, error) {
	a, reads := p.answer(key)
	if reads {
		defer close(a.done)
		a.value, a.err = read(ctx)
		return a.value, a.err
	}
	page, err := a.wait(ctx)
	if err != nil {
		return comment.Page{}, err
	}
	return *page, nil
}

// answer returns the answer of a key, and whether the caller is to read it.
func (p *pages) answer(key PageKey) (a *answer[comment.Page], reads bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if a = p.read[key]; a != nil {
		return a, false
	}
	a = &answer[comment.Page]{done: make(chan struct{}), found: true, err: errUnread}
	if p.read == nil {
		p.read = map[PageKey]*answer[comment.Page]{}
	}
	p.read[key] = a
	return a, true
}
