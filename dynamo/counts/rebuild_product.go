package counts

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/call"
	"github.com/talkback/talkback/dynamo/layout"
)

const (
	// entriesPerRepair is how many items of languages go into one transaction of a repair, beside the statistics and the
	// condition of the settings.
	entriesPerRepair = maxItemsPerTransaction - 2
	// restlessLooks is how often a product may have been counted while it was looked at, before others have to wait.
	restlessLooks = 3
	// holdAtLeast is for how long others wait at least, should the rebuild end meanwhile.
	holdAtLeast = 30 * time.Second
	// mostLooks bounds the looks at one product.
	mostLooks = 40
	// holdLooks is how many looks a hold has to last for.
	holdLooks = 4
)

// repair is what has to be written to make the statistics of a product the sum of its marks, and its places on
// leaderboards follow from them.
type repair struct {
	product       string
	before, after statistics
	// difference is by how much the counts are wrong.
	difference comment.Stats
	// entries are the items of languages to be written, or deleted if there is nothing to say in them.
	entries []leaderPlace
	// needed is whether anything is to be written, wrong whether that is because something is wrong.
	needed, wrong bool
}

// repairOf decides what a steady look makes necessary, if the statistics are to become those given. A product that moves to
// another number of shards is written even if nothing about it changes: a counter that read the statistics before, and uses
// the old number, then fails.
func repairOf(seen *examined, after statistics, settings leaderSettings) repair {
	after.changes = seen.before.next()
	fix := repair{
		product: seen.product, before: seen.before, after: after,
		difference: differenceOf(seen.counted(), seen.marked),
	}
	right := placesOf(seen.product, seen.marked, settings.shards)
	for _, language := range languagesIn(right, seen.places, after.others, seen.rows) {
		there, exists := seen.places[language]
		want, wanted := right[language]
		misplaced := exists != wanted || there != want
		fix.wrong = fix.wrong || misplaced
		if language != "" && (misplaced || after.others[language] != seen.rows[language]) {
			fix.entries = append(fix.entries, after.place(seen.product, language))
		}
	}
	shared := statistics{others: seen.rows}.shared()
	fix.wrong = fix.wrong || seen.before.damaged != nil || len(fix.difference) > 0 || seen.before.stats[comment.OtherLanguages] != shared ||
		hasEmpty(seen.before.stats)
	moves := settings.was != 0 && seen.before.changes > 0
	fix.needed = fix.wrong || moves || seen.before.hold.owner != "" || len(fix.entries) > 0 || !maps.Equal(seen.before.stats, after.stats)
	return fix
}

// hasEmpty tells whether a language without comments is left in a grid.
func hasEmpty(stats comment.Stats) bool {
	for _, counts := range stats {
		if counts == (comment.Counts{}) {
			return true
		}
	}
	return false
}

// languagesIn are the languages of places and of rows, sorted.
func languagesIn(a, b map[comment.Language]leaderKeys, rows ...comment.Stats) []comment.Language {
	languages := slices.AppendSeq(slices.Collect(maps.Keys(a)), maps.Keys(b))
	languages = append(languages, languagesOf(rows...)...)
	slices.Sort(languages)
	return slices.Compact(languages)
}

// differenceOf is what has to be added to the one grid to make it the other.
func differenceOf(from, to comment.Stats) comment.Stats {
	out := comment.Stats{}
	for cell := range cellsThatDiffer(from, to) {
		out.Add(cell, at(to, cell)-at(from, cell))
	}
	return out
}

// transactions are what makes a repair, one after the other: each has the statistics as the one before left them.
func (f repair) transactions(table string, settings leaderSettings) (out [][]types.TransactWriteItem) {
	before, after := f.before, f.after
	for entries := f.entries; ; entries = entries[min(len(entries), entriesPerRepair):] {
		if out != nil && len(entries) == 0 {
			return out
		}
		condition, values := before.unchanged()
		writes := []types.TransactWriteItem{
			call.PutIf(table, statisticsItem(f.product, after, settings.shards), condition, values),
			settings.guard(table, f.product),
		}
		for _, place := range entries[:min(len(entries), entriesPerRepair)] {
			writes = append(writes, leaderWrite(table, place, settings.shards))
		}
		out = append(out, writes)
		before, after.changes = after, after.changes+1
	}
}

// recount is a product on its way to statistics that are right.
type recount struct {
	product string
	// settled is whether its marks were held against its comments.
	settled bool
	// difference is by how much the counts were wrong at the last steady look, marked what the marks said.
	difference, marked comment.Stats
	// restless is how many looks came to nothing because others counted, since nobody was made to wait.
	restless int
	// looks is how many there were in all.
	looks int
}

// recounter brings products to right statistics, one step at a time. It is safe for concurrent use for different products.
type recounter struct {
	examiner
	transactor call.Transactor
	counter    *Counter
	owner      string // of the rebuild, in holds
	settings   leaderSettings

	counted, repaired atomic.Int64 // comments, products

	mu       sync.Mutex // guards improper
	improper []layout.Improper
}

// report adds items that are not what they should be.
func (r *recounter) report(items ...layout.Improper) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.improper = append(r.improper, items...)
}

// bring makes one step towards right statistics, and tells whether they are.
func (r *recounter) bring(ctx context.Context, rc *recount) (done bool, err error) {
	if rc.looks++; rc.looks > mostLooks {
		return false, comment.Errorf(comment.Throttled, "the statistics of product %q change too often to be counted anew; run the rebuild again, it goes on where it was", rc.product)
	}
	started := time.Now()
	seen, err := r.lookAndSettle(ctx, rc)
	if err != nil {
		return false, err
	}
	if done, err = r.judge(ctx, rc, seen); done || err != nil {
		return done, err
	}
	if rc.restless == restlessLooks {
		rc.restless = 0
		return false, r.hold(ctx, rc.product, max(holdAtLeast, holdLooks*time.Since(started)))
	}
	return false, nil
}

// lookAndSettle looks at the marks of a product. At the first look, comments whose marks do not fit are counted anew.
func (r *recounter) lookAndSettle(ctx context.Context, rc *recount) (*examined, error) {
	if rc.settled {
		return r.look(ctx, rc.product, nil)
	}
	fits := true
	seen, err := r.look(ctx, rc.product, func(ctx context.Context, ids []comment.ID) error {
		fits = false
		return r.settle(ctx, rc.product, ids)
	})
	if err != nil || seen.before.damaged != nil {
		return seen, err
	}
	r.report(seen.improper...)
	if rc.settled = true; fits {
		return seen, nil
	}
	return r.look(ctx, rc.product, nil)
}

// settle counts comments as what they are, unless they are counted so already.
func (r *recounter) settle(ctx context.Context, product string, ids []comment.ID) error {
	for len(ids) > 0 {
		err := call.Retry(ctx, func() (further bool, err error) {
			found, err := r.misfits(ctx, product, ids)
			if err != nil {
				return false, err
			}
			pending := workload{}
			for _, m := range found {
				pending.add(product, standing{ID: m.id, Cell: m.cell, improper: m.improper})
			}
			refused := refusals{}
			further, err = r.counter.round(ctx, pending, refused)
			for _, cause := range refused {
				return false, cause
			}
			ids = idsOf(pending[product])
			r.counted.Add(int64(len(found) - len(ids)))
			if errors.Is(err, errHeld) { // by a rebuild that was interrupted
				err = errors.Join(err, r.release(ctx, product))
			}
			return further, err
		})
		if err != nil {
			return call.Wrap(err, "comments of product %q", product)
		}
	}
	return nil
}

func idsOf(standings []standing) []comment.ID {
	out := make([]comment.ID, len(standings))
	for i, s := range standings {
		out[i] = s.ID
	}
	return out
}

// judge decides what a look makes necessary, and does it. A difference between marks and counts is believed when two looks
// in a row found it.
func (r *recounter) judge(ctx context.Context, rc *recount, seen *examined) (done bool, err error) {
	if !seen.steady() {
		rc.restless++
		return false, nil
	}
	after, sure := rc.arrange(seen)
	if !sure {
		return false, nil
	}
	fix := repairOf(seen, after, r.settings)
	if !fix.needed {
		return true, nil
	}
	if len(fix.difference) > 0 && !maps.Equal(fix.difference, rc.difference) {
		rc.difference = fix.difference
		return false, nil
	}
	for _, writes := range fix.transactions(r.table, r.settings) {
		if err := call.Transact(ctx, r.transactor, writes); err != nil {
			rc.restless++
			if call.Transient(err) {
				return false, nil
			}
			return false, err
		}
	}
	if fix.wrong {
		r.repaired.Add(1)
	}
	return rc.settled, nil
}

// arrange says which languages get rows of their own. To give rows to other languages than have them, the counts of each must
// be known, not only by how much they are wrong: so that is done if two looks in a row find the same. Who is counted all
// the time keeps the rows that there are.
func (rc *recount) arrange(seen *examined) (after statistics, sure bool) {
	byUse, kept := arranged(seen.marked, nil), arranged(seen.marked, seen.before.stats)
	if maps.Equal(byUse.stats, kept.stats) || maps.Equal(rc.marked, seen.marked) {
		return byUse, true
	}
	first := rc.marked == nil
	rc.marked = seen.marked
	return kept, !first
}

// hold makes others wait with the statistics of a product, so that its marks can be added up; for so long at most, should
// this rebuild end.
func (r *recounter) hold(ctx context.Context, product string, length time.Duration) error {
	return r.changeHold(ctx, product, func() hold { return hold{owner: r.owner, until: time.Now().Add(length)} })
}

// release lets others go on with the statistics of a product.
func (r *recounter) release(ctx context.Context, product string) error {
	return r.changeHold(ctx, product, func() hold { return hold{} })
}

func (r *recounter) changeHold(ctx context.Context, product string, to func() hold) error {
	return call.Retry(ctx, func() (further bool, err error) {
		now, err := r.statistics(ctx, product)
		if err != nil || now.changes == 0 { // what is not there cannot be held, and others are about to make it
			return false, err
		}
		condition, values := now.unchanged()
		now.hold = to()
		return false, call.Transact(ctx, r.transactor, []types.TransactWriteItem{
			call.PutIf(r.table, statisticsItem(product, now, r.settings.shards), condition, values),
			r.settings.guard(r.table, product),
		})
	})
}
