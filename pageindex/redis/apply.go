package redis

import (
	"context"
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
	if len(entries) == 0 {
		return nil
	}
	written := map[string]bool{}
	for {
		g, err := s.ensureCurrent(ctx)
		if err != nil {
			return s.name.Failed(err)
		}
		rest := slices.DeleteFunc(g.all(), func(name string) bool { return written[name] })
		if len(rest) == 0 {
			return nil
		}
		if err := s.write(ctx, rest, entries); err != nil {
			return s.name.Failed(err)
		}
		for _, name := range rest {
			written[name] = true
		}
	}
}

// call is one run of the script.
type call struct {
	keys      []string
	arguments []any
}

// write writes entries into generations, with at least one script for each product.
func (s *Store) write(ctx context.Context, into []string, entries []pageindex.Entry) error {
	products := map[string][]pageindex.Entry{}
	for _, entry := range entries {
		products[entry.Product] = append(products[entry.Product], entry)
	}
	var calls []call
	for _, product := range slices.Sorted(maps.Keys(products)) {
		for chunk := range slices.Chunk(products[product], atOnce) {
			for _, generation := range into {
				calls = append(calls, s.callFor(product, generation, chunk))
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

func (s *Store) callFor(product, generation string, entries []pageindex.Entry) call {
	of := s.keys.of(product, generation)
	third, listed := s.keys.products(), listedAs(product, generation)
	if s.inCluster() {
		third, listed = of+neverName, ""
	}
	c := call{
		keys:      []string{of + stateName, of + entriesName, third},
		arguments: []any{of, int(pageindex.Remember.Seconds()), listed},
	}
	for _, e := range entries {
		c.arguments = append(c.arguments, string(e.Position[:]), milliseconds(e.Position), cellText(e.Cell), string(e.Follows))
	}
	return c
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
