package redis

import (
	"context"
	"crypto/rand"
	_ "embed"
	"maps"
	"slices"

	goredis "github.com/redis/go-redis/v9"

	"github.com/talkback/talkback/pageindex"
)

//go:embed apply.lua
var applyText string

var applyScript = goredis.NewScript(applyText)

// atOnce is how many entries one script takes. It blocks the server for some 3 ms.
const atOnce = 500

// Apply implements pageindex.Store. It also writes to a generation that begins while it works.
func (s *Store) Apply(ctx context.Context, entries []pageindex.Entry) error {
	var written []string
	for {
		g, err := s.ensureCurrent(ctx)
		rest := slices.DeleteFunc(g.all(), func(name string) bool { return slices.Contains(written, name) })
		if err == nil {
			err = s.write(ctx, rest, entries)
		}
		if err != nil || len(rest) == 0 {
			return s.name.Failed(err)
		}
		written = append(written, rest...)
	}
}

// call is one run of the script.
type call struct {
	keys      []string
	arguments []any
}

// write writes entries into generations, with at least one script for each product.
func (s *Store) write(ctx context.Context, into []string, entries []pageindex.Entry) error {
	products := pageindex.LatestByProduct(entries)
	var calls []call
	for _, product := range slices.Sorted(maps.Keys(products)) {
		for chunk := range slices.Chunk(products[product], atOnce) {
			for _, generation := range into {
				keys, of := s.scripted(product, generation)
				listed := listedAs(product, generation)
				if s.inCluster() {
					listed = ""
				}
				c := call{keys: keys, arguments: []any{of, int(pageindex.Remember.Seconds()), listed}}
				for _, e := range chunk {
					c.arguments = append(c.arguments, string(e.Position[:]), milliseconds(e.Position), cellText(e.Cell), string(e.Follows))
				}
				calls = append(calls, c)
			}
		}
	}
	for pipelined := range slices.Chunk(calls, atOnce) {
		if err := s.run(ctx, pipelined); err != nil {
			return err
		}
	}
	return nil
}

// run makes calls in one pipeline, and sends the script's text if the server does not have it yet.
func (s *Store) run(ctx context.Context, calls []call) error {
	run := func(eval func(context.Context, goredis.Scripter, []string, ...any) *goredis.Cmd) error {
		_, err := s.client.Pipelined(ctx, func(pipe goredis.Pipeliner) error {
			for _, c := range calls {
				eval(ctx, pipe, c.keys, c.arguments...)
			}
			return nil
		})
		return err
	}
	err := run(applyScript.EvalSha)
	if goredis.HasErrorPrefix(err, "NOSCRIPT") {
		err = run(applyScript.Eval)
	}
	return err
}

// building is a build under way.
type building struct {
	store      *Store
	generation string
	// servers identifies the servers when the build began.
	servers string
}

// Build implements pageindex.Store. It deletes the remains of earlier builds.
func (s *Store) Build(ctx context.Context) (pageindex.Build, error) {
	servers, err := s.servers(ctx)
	if err != nil {
		return nil, s.name.Failed(err)
	}
	b := &building{store: s, generation: rand.Text(), servers: servers}
	if err := s.client.HSet(ctx, s.keys.meta(), metaBuilding, b.generation).Err(); err != nil {
		return nil, s.name.Failed(err)
	}
	return b, s.name.Failed(s.sweep(ctx))
}

// Add implements pageindex.Build.
func (b *building) Add(ctx context.Context, entries []pageindex.Entry) error {
	g, err := b.store.generations(ctx)
	if err != nil {
		return b.store.name.Failed(err)
	}
	if g.building != b.generation {
		return b.store.overtaken()
	}
	return b.store.name.Failed(b.store.write(ctx, []string{b.generation}, entries))
}

// Finish implements pageindex.Build. It deletes the store's old content. If that fails, it reports
// no error: the next build tries again.
func (b *building) Finish(ctx context.Context, covers string) error {
	s := b.store
	done, err := finish.Run(ctx, s.client, []string{s.keys.meta()}, b.generation, covers, b.servers).Int()
	if err != nil {
		return s.name.Failed(err)
	}
	if done == 0 {
		return s.overtaken()
	}
	_ = s.sweep(ctx)
	return nil
}
