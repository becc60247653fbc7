package table

import (
	"context"
	"errors"
	"slices"

	"github.com/talkback/talkback/dynamo/call"
	"github.com/talkback/talkback/pageindex/runs"
)

// Runs returns all runs of a product's index in ascending order, the head last, all of one moment;
// none if the product has no index. An error that wraps runs.ErrTorn means that parts of the index
// are missing, cannot be decoded or do not fit together.
func (x *Index) Runs(ctx context.Context, product string) (all []runs.Run, err error) {
	r := &reading{client: x.client, table: x.table, product: product, consistent: true}
	all, err = untorn(ctx, func() ([]runs.Run, error) {
		head, _, err := r.statistics(ctx)
		if err != nil || !head.Exists() {
			return nil, err
		}
		stored, err := r.stored(ctx)
		if err != nil {
			return nil, err
		}
		view, err := runs.NewView(head, stored.directory, stored.log)
		if err != nil {
			return nil, err
		}
		for keys := range slices.Chunk(view.Unloaded(), call.MaxKeysPerGet) {
			chunks, err := r.chunks(ctx, keys)
			if err != nil {
				return nil, err
			}
			for key, chunk := range chunks {
				err = errors.Join(err, view.Load(key, chunk))
			}
			if err != nil {
				return nil, err
			}
		}
		return view.Runs(), nil
	})
	return all, call.Wrap(err, "page index of product %q", product)
}
