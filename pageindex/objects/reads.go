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

// Cache caches heads and blocks of files. Files never change, so entries never become stale.
type Cache struct {
	heads  *lru.Cache[string, *Head]
	blocks *lru.Cache[blockKey, []byte]
}

// blockKey names a block of a file.
type blockKey struct {
	file           string
	product, block int
}

// reads holds what one lookup has read, and what it has to read next. Everything that can be read
// in parallel is one wave.
type reads struct {
	storage storage
	cache   *Cache
	cost    pageindex.Cost

	mu     sync.Mutex // for the calls of one wave
	heads  map[string]*Head
	blocks map[blockKey][]byte

	wantHeads  map[string]FileInfo
	wantBlocks map[blockKey]*Head
}

// head returns the head of one of a chunk's files, nil if it has to be read first. It returns an
// empty head for a missing file.
func (r *reads) head(c *Chunk, kind Kind) *Head {
	part, name := c.File(kind), c.objectName(kind)
	if part.Count == 0 {
		return &Head{}
	}
	if h, ok := r.heads[name]; ok {
		return h
	}
	if h, ok := r.cache.heads.Get(name); ok {
		r.heads[name] = h
		return h
	}
	r.wantHeads[name] = part
	return nil
}

// block returns the bytes of a block, nil if they have to be read first.
func (r *reads) block(name string, h *Head, product, block int) []byte {
	key := blockKey{name, product, block}
	if data, ok := r.blocks[key]; ok {
		return data
	}
	if data, ok := r.cache.blocks.Get(key); ok {
		r.blocks[key] = data
		return data
	}
	r.wantBlocks[key] = h
	return nil
}

// until calls work until it needs no further reads. After each call, it reads everything that was
// missing, in one wave.
func (r *reads) until(ctx context.Context, work func()) error {
	for {
		work()
		if len(r.wantHeads)+len(r.wantBlocks) == 0 {
			return nil
		}
		r.cost.Waves++
		r.cost.Calls += len(r.wantHeads) + len(r.wantBlocks)
		group, ctx := errgroup.WithContext(ctx)
		group.SetLimit(parallelReads)
		for name, part := range r.wantHeads {
			group.Go(func() error { return r.readHead(ctx, name, part) })
		}
		for key, head := range r.wantBlocks {
			group.Go(func() error { return r.readBlock(ctx, key, head) })
		}
		if err := group.Wait(); err != nil {
			return err
		}
		clear(r.wantHeads)
		clear(r.wantBlocks)
	}
}

func (r *reads) readHead(ctx context.Context, name string, part FileInfo) error {
	data, err := r.storage.getRange(ctx, name, 0, part.Head)
	if err != nil {
		return err
	}
	head, err := part.Decode(data)
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.heads[name] = head
	r.cache.heads.Add(name, head)
	return nil
}

func (r *reads) readBlock(ctx context.Context, key blockKey, head *Head) error {
	p := &head.Products[key.product]
	offset, length := head.Extent(p, key.block)
	data, err := r.storage.getRange(ctx, key.file, offset, length)
	if err != nil {
		return err
	}
	if err := p.Blocks[key.block].Check(data); err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.blocks[key] = data
	r.cache.blocks.Add(key, data)
	return nil
}
