package web

import (
	"net/http"
	"sync/atomic"

	"github.com/talkback/talkback/web/home"
)

// homePage is the home page, whose code names the server as the request does: what is copied from
// it works where it is read. Safe for concurrent use.
type homePage struct {
	home *home.Home
	last atomic.Pointer[addressed] // nearly all ask by one address
}

// addressed is the home page of a snapshot for one address of the server.
type addressed struct {
	snapshot *home.Snapshot
	address  string
	page     *asset
}

// at returns the page for a request.
func (h *homePage) at(r *http.Request) *asset {
	snapshot, address := h.home.Snapshot(r), addressOf(r)
	if last := h.last.Load(); last != nil && last.snapshot == snapshot && last.address == address {
		return last.page
	}
	page, err := h.build(snapshot, address)
	if err != nil {
		panic(err) // the template is tested with everything that a snapshot can have
	}
	h.last.Store(&addressed{snapshot, address, page})
	return page
}

func (h *homePage) build(snapshot *home.Snapshot, address string) (*asset, error) {
	content, err := h.home.Page(snapshot, address)
	if err != nil {
		return nil, err
	}
	page, err := newAsset("index.html", packFast(content))
	if err != nil {
		return nil, err
	}
	page.policy, page.cache = homePolicy, mustAsk
	return page, nil
}
