package markers

import (
	"context"
	"slices"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/call"
)

const (
	// chunksAtOnce is how many chunks of stamps one transaction writes, and how many it deletes.
	chunksAtOnce = 40
	// stampsPerRead is how many stamps one read finds: with 64 comments each, that is some 100 KB.
	stampsPerRead = 20
)

// restamp stamps what is unstamped in any cell of a product, and deletes chunks that have no valid
// stamps. The caller holds the product's turn. An interruption does no harm: the header says which
// stamps are valid.
func (s *Store) restamp(ctx context.Context, p generationProduct) error {
	for done := false; !done; {
		err := call.Retry(ctx, func() (bool, error) {
			h, err := s.header(ctx, p)
			if err != nil {
				return false, err
			}
			cells := h.names()
			next := slices.IndexFunc(cells, func(cell string) bool {
				c := h.cells[cell]
				return c.stamped < c.count/s.perStamp || c.chunks > s.chunksFor(c.stamped)
			})
			if done = next < 0; done {
				return false, nil
			}
			return false, s.stampSome(ctx, p, h, cells[next])
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// stampSome writes the next stamps of a cell, as many as one transaction takes.
func (s *Store) stampSome(ctx context.Context, p generationProduct, before header, cell string) error {
	after := before.clone()
	c := after.cells[cell]
	// Valid stamps of a partly valid chunk stay in it.
	first := c.stamped / s.perChunk
	var stamps []comment.Position
	if partly := c.stamped % s.perChunk; partly > 0 {
		there, err := s.stamps(ctx, p, cell, first)
		if err != nil || len(there) < partly {
			return damaged(err)
		}
		stamps = there[:partly]
	}
	most := min(c.count/s.perStamp, (first+chunksAtOnce)*s.perChunk)
	for c.stamped < most {
		ahead := min(most-c.stamped, stampsPerRead)
		next, err := s.members(ctx, p, cell, behind(c.stamped, c.last), comment.MaxPosition, ahead*s.perStamp)
		if err != nil || len(next) < ahead*s.perStamp {
			return damaged(err)
		}
		for n := range ahead {
			c.last = next[(n+1)*s.perStamp-1]
			stamps = append(stamps, c.last)
		}
		c.stamped += ahead
	}
	var writes []types.TransactWriteItem
	for chunk := range slices.Chunk(stamps, s.perChunk) {
		writes = append(writes, p.put(encodeStamps(p.chunkKey(cell, first+len(writes)), chunk)))
	}
	if c.stamped == c.count/s.perStamp {
		for n := 0; n < chunksAtOnce && c.chunks > s.chunksFor(c.stamped); n++ {
			c.chunks--
			writes = append(writes, p.remove(p.chunkKey(cell, c.chunks)))
		}
	}
	c.chunks = max(c.chunks, s.chunksFor(c.stamped))
	after.cells[cell] = c
	return call.Transact(ctx, s.client, append(writes, headerWrites(p, before, after)...))
}

// damaged returns the error for a cell with fewer comments or stamps than its header says, or err
// if reading failed. A concurrent write looks the same, so the fault may pass.
func damaged(err error) error {
	if err != nil {
		return err
	}
	return comment.Errorf(comment.Throttled, "page markers do not fit their header; if this stays so, talkback rebuild --pages repairs them")
}
