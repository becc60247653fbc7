package objects

import (
	"context"
	"sync"

	lru "github.com/hashicorp/golang-lru/v2"
	"golang.org/x/sync/errgroup"

	"github.com/talkback/talkback/pageindex"
)

// Bounds of the caches, and of parallel reads.
const (
	cachedHeads   = 256
	cachedBlocks  = 1024
	parallelReads = 16
)

// blockKey names a block of a file.
type blockKey struct {
	file           string
	product, block int
}

// reads holds what one lookup has read, and what it has to read next. Everything that can be read
// in parallel is one wave.
type reads struct {
	storage storage
	cost    pageindex.Cost
	heads   parts[string, *Head]
	blocks  parts[blockKey, []byte]
}

// cache caches heads and blocks of files. Files never change, so entries never become stale.
type cache struct {
	heads  *lru.Cache[string, *Head]
	blocks *lru.Cache[blockKey, []byte]
}

func newCache() *cache {
	heads, _ := lru.New[string, *Head](cachedHeads) // it only fails without a size
	blocks, _ := lru.New[blockKey, []byte](cachedBlocks)
	return &cache{heads, blocks}
}

func newReads(s storage, c *cache) *reads {
	return &reads{
		storage: s,
		heads:   parts[string, *Head]{c.heads, map[string]*Head{}, map[string]func(context.Context) (*Head, error){}},
		blocks:  parts[blockKey, []byte]{c.blocks, map[blockKey][]byte{}, map[blockKey]func(context.Context) ([]byte, error){}},
	}
}

// parts are the parts of files of one kind.
type parts[K comparable, V any] struct {
	cache *lru.Cache[K, V]
	read  map[K]V
	want  map[K]func(context.Context) (V, error) // what has to be read next
}

// get returns a part, or the zero value if it has to be read first.
func (p *parts[K, V]) get(key K, read func(context.Context) (V, error)) V {
	part, ok := p.read[key]
	if !ok {
		if part, ok = p.cache.Get(key); ok {
			p.read[key] = part
		} else {
			p.want[key] = read
		}
	}
	return part
}

// start reads the wanted parts in a group. The lock guards those that were read.
func (p *parts[K, V]) start(ctx context.Context, group *errgroup.Group, lock *sync.Mutex) {
	for key, read := range p.want {
		group.Go(func() error {
			part, err := read(ctx)
			if err != nil {
				return err
			}
			lock.Lock()
			defer lock.Unlock()
			p.read[key] = part
			p.cache.Add(key, part)
			return nil
		})
	}
}

// head returns the head of one of a chunk's files, nil if it has to be read first. It returns an
// empty head for a missing file.
func (r *reads) head(c *Chunk, kind Kind) *Head {
	file, name := c.File(kind), c.objectName(kind)
	if file.Count == 0 {
		return &Head{}
	}
	return r.heads.get(name, func(ctx context.Context) (*Head, error) {
		data, err := r.storage.getRange(ctx, name, 0, file.Head)
		if err != nil {
			return nil, err
		}
		return file.Decode(data)
	})
}

// block returns the bytes of a block, nil if they have to be read first.
func (r *reads) block(name string, h *Head, product, block int) []byte {
	return r.blocks.get(blockKey{name, product, block}, func(ctx context.Context) ([]byte, error) {
		p := &h.Products[product]
		offset, length := h.Extent(p, block)
		data, err := r.storage.getRange(ctx, name, offset, length)
		if err != nil {
			return nil, err
		}
		return data, p.Blocks[block].Check(data)
	})
}

// until calls work until it needs no further reads. After each call, it reads everything that was
// missing, in one wave.
func (r *reads) until(ctx context.Context, work func()) error {
	for {
		work()
		missing := len(r.heads.want) + len(r.blocks.want)
		if missing == 0 {
			return nil
		}
		r.cost.Add(pageindex.Cost{Calls: missing, Waves: 1})
		var lock sync.Mutex
		group, ctx := errgroup.WithContext(ctx)
		group.SetLimit(parallelReads)
		r.heads.start(ctx, group, &lock)
		r.blocks.start(ctx, group, &lock)
		if err := group.Wait(); err != nil {
			return err
		}
		clear(r.heads.want)
		clear(r.blocks.want)
	}
}
