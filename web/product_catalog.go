package web

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"github.com/talkback/talkback/internal/fetch"
	"github.com/talkback/talkback/internal/task"
	"golang.org/x/sync/singleflight"
)

const (
	// keptFor is how long a product is known before it is fetched again. The old data counts until the
	// answer arrives.
	keptFor = time.Hour
	// failedFor is how long after a failure a product is fetched again, and the least time between two
	// logged failures.
	failedFor = time.Minute
	// patience is how long a page waits for products that were never fetched.
	patience = 400 * time.Millisecond
	// fetchTimeout bounds a fetch. Pages do not wait for it.
	fetchTimeout = 5 * time.Second
	// maxFetches bounds the fetches at a time: visitors choose the products, and the shop has other
	// work.
	maxFetches = 8
	// maxBytes bounds an answer. Pages of products have some hundred kilobytes.
	maxBytes = 2 << 20
	// maxKnown bounds the products that are remembered, of a kilobyte each at most.
	maxKnown = 10_000
)

// Catalog fetches the names of products from the shop, at an address for each product. The answer
// is JSON, or the shop's own page of the product with JSON-LD. A nil Catalog knows nothing. Safe
// for concurrent use.
//
// A page never depends on the shop: it waits a moment for a name that was never fetched, and is
// then shown without it.
type Catalog struct {
	ctx      context.Context // ends all fetching; not a request's: others wait for the same answer
	address  address
	client   *fetch.Client
	log      *slog.Logger
	known    *lru.Cache[string, catalogEntry]
	fetching singleflight.Group
	places   chan struct{}
	patience time.Duration
	logged   atomic.Int64 // when a failure was logged last, in seconds since 1970
}

// catalogEntry is a product and until when it needs no fetch.
type catalogEntry struct {
	Product
	until time.Time
}

// NewCatalog returns a catalog that fetches until the context ends. The template is an address with
// {id} in place of a product's id. It must be on the internet, unless inside allows private
// networks and this machine, too.
func NewCatalog(ctx context.Context, template string, inside bool, log *slog.Logger) (*Catalog, error) {
	address, err := parseAddress(template, inside)
	if err != nil {
		return nil, err
	}
	known := mustHave(lru.New[string, catalogEntry](maxKnown))
	allowed := fetch.Public
	if inside {
		allowed = fetch.PublicOrInside
	}
	return &Catalog{
		ctx: ctx, address: address, client: fetch.New(fetchTimeout, maxBytes, allowed), log: log,
		known: known, places: make(chan struct{}, maxFetches), patience: patience,
	}, nil
}

// Find returns the known data of products by their ids. It waits a moment for products that were
// never fetched.
func (c *Catalog) Find(ctx context.Context, ids ...string) map[string]Product {
	if c == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, c.patience)
	defer cancel()
	found, awaited := map[string]Product{}, map[string]<-chan singleflight.Result{}
	for _, id := range ids {
		entry, known := c.known.Get(id)
		found[id] = entry.Product
		if known && time.Now().Before(entry.until) {
			continue
		}
		arrival := c.fetching.DoChan(id, func() (any, error) { return nil, c.refresh(id) })
		if !known {
			awaited[id] = arrival
		}
	}
	for id, arrival := range awaited {
		select {
		case <-arrival:
		case <-ctx.Done():
		}
		entry, _ := c.known.Get(id)
		found[id] = entry.Product
	}
	return found
}

// refresh fetches a product and remembers it. If that fails, the old data stays.
func (c *Catalog) refresh(id string) error {
	id = strings.Clone(id) // else it would keep the whole address of the request in memory
	ctx, cancel := context.WithTimeout(c.ctx, fetchTimeout)
	defer cancel()
	select {
	case c.places <- struct{}{}:
		defer func() { <-c.places }()
	case <-time.After(c.patience):
		return errors.New("too many products are being fetched") // and nothing is remembered: the next page tries again
	}
	old, _ := c.known.Peek(id)
	if time.Now().Before(old.until) {
		return nil // another fetch has just ended
	}
	err := task.Guard(func() error {
		if id == "." || id == ".." { // servers resolve such segments, even if they are escaped
			return errNameless
		}
		answer, err := c.client.Get(ctx, c.address.of(id), accepted.Clone())
		if err != nil {
			return err
		}
		product, err := readProduct(answer)
		if err == nil {
			c.known.Add(id, catalogEntry{product, time.Now().Add(keptFor)})
		}
		return err
	})
	if err != nil {
		c.known.Add(id, catalogEntry{old.Product, time.Now().Add(failedFor)})
		// At most once within failedFor: if the shop fails, it fails for all products.
		now, last := time.Now().Unix(), c.logged.Load()
		if c.ctx.Err() == nil && now-last >= int64(failedFor.Seconds()) && c.logged.CompareAndSwap(last, now) {
			c.log.Warn("the name of a product could not be fetched from --product-info; its page is shown without it", "product", id, "error", err)
		}
	}
	return err
}

var accepted = http.Header{"Accept": {"application/ld+json, application/json;q=0.9, text/html;q=0.8"}, "User-Agent": {"Talkback"}}

// hole is the placeholder of a product's id.
const hole = "{id}"

// address is a template of addresses, cut before its question mark.
type address struct{ path, query string }

// parseAddress reads a template.
func parseAddress(template string, inside bool) (address, error) {
	path, query, asks := strings.Cut(template, "?")
	if asks {
		query = "?" + query
	}
	a := address{path, query}
	one, err := url.Parse(a.of("1"))
	two, err2 := url.Parse(a.of("2"))
	switch {
	case errors.Join(err, err2) != nil || one.Host == "" || one.Scheme != "https" && one.Scheme != "http":
		return address{}, errors.New("--product-info is no address: give one such as https://shop.example/products/{id}")
	case one.Host != two.Host || one.User.String() != two.User.String() || one.RequestURI() == two.RequestURI():
		return address{}, errors.New("--product-info has to hold {id} in its path or query, in place of a product's id, such as https://shop.example/products/{id}")
	case one.Scheme == "http" && !inside:
		return address{}, errors.New("--product-info is not safe: names that come by plain HTTP could be changed on their way; give an address that begins with https, or allow a machine inside with --product-info-inside")
	}
	return a, nil
}

// of returns the address of a product. An id is one segment of the path, or a value of the query.
func (a address) of(id string) string {
	return strings.ReplaceAll(a.path, hole, url.PathEscape(id)) + strings.ReplaceAll(a.query, hole, url.QueryEscape(id))
}
