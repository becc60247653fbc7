package counts

import (
	"bytes"
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/call"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/pageindex"
)

const (
	// entriesPerRepair is how many items of languages fit into one transaction of a repair. The
	// others are the statistics, an entry of the page index's log, and the condition on the
	// settings.
	entriesPerRepair = maxItemsPerTransaction - 3
	// restlessLooks is how many looks at a product others may disturb by counting before the
	// product is held.
	restlessLooks = 3
	// holdAtLeast is the minimum duration of a hold. It matters only if the rebuild ends before it
	// releases the hold.
	holdAtLeast = 30 * time.Second
	mostLooks   = 40 // at one product
	holdLooks   = 4  // for how many looks a hold lasts
)

// repair corrects the statistics of a product to the sum of its markers, and its places on
// leaderboards with them.
type repair struct {
	product       string
	before, after statistics
	// difference is the error of the counts.
	difference comment.Stats
	// entries has the items of languages to write, or to delete if they are empty.
	entries []leaderPlace
	page    pageHead
	// newest has the encoded positions of the newest comments to store; empty if they are stored
	// already.
	newest string
	// needed is whether anything must be written, and wrong is whether anything was wrong.
	needed, wrong bool
}

// repairOf decides what to write after a steady look, to change the statistics to after. While the
// number of shards changes, a product is written even if nothing else changes. So a counter that
// read the statistics earlier, and uses the old number, fails.
func repairOf(seen *examination, after statistics, index pageHead, settings leaderSettings) repair {
	after.changes, after.head, after.newest = seen.before.next(), index.head, seen.bounds.In(after.stats)
	fix := repair{
		product: seen.product, before: seen.before, after: after, page: index, difference: comment.Stats{},
	}
	for _, d := range differencesOf(seen.counts(), seen.marked) {
		fix.difference.Add(d.Cell, d.b-d.a)
	}
	right := placesOf(seen.product, seen.marked, settings.shards)
	languages := slices.AppendSeq(slices.Collect(maps.Keys(right)), maps.Keys(seen.places))
	languages = append(languages, languagesOf(after.others, seen.rows)...)
	slices.Sort(languages)
	for _, language := range slices.Compact(languages) {
		there, exists := seen.places[language]
		want, wanted := right[language]
		misplaced := exists != wanted || there != want
		fix.wrong = fix.wrong || misplaced
		if language != "" && (misplaced || after.others[language] != seen.rows[language]) {
			fix.entries = append(fix.entries, after.place(seen.product, language))
		}
	}
	shared := statistics{others: seen.rows}.shared()
	if newest := layout.BytesOf(statisticsItem(seen.product, after, settings.shards), attrNewest); !bytes.Equal(newest, layout.BytesOf(seen.before.item, attrNewest)) {
		fix.newest = string(newest)
	}
	fix.wrong = fix.wrong || seen.misdated() != "" || seen.before.damage != nil || len(fix.difference) > 0 || seen.before.stats[comment.OtherLanguages] != shared ||
		slices.Contains(slices.Collect(maps.Values(seen.before.stats)), comment.Row{}) || index.wrong
	moves := settings.was != 0 && seen.before.changes > 0
	fix.needed = fix.wrong || fix.newest != "" || index.starts || index.ends || moves || seen.before.hold.owner != "" || len(fix.entries) > 0 || !maps.Equal(seen.before.stats, after.stats)
	return fix
}

// transactions returns the transactions of a repair, in order. Each has the condition that the
// statistics are as the one before left them.
func (f repair) transactions(table string, settings leaderSettings) (out [][]types.TransactWriteItem) {
	before, after := f.before, f.after
	for entries := f.entries; ; entries = entries[min(len(entries), entriesPerRepair):] {
		if out != nil && len(entries) == 0 {
			return out
		}
		condition, values := before.unchanged()
		it := statisticsItem(f.product, after, settings.shards)
		writes := []types.TransactWriteItem{call.PutIf(table, it, condition, values), settings.guard(table, f.product)}
		if out == nil {
			writes = appendEntry(writes, table, f.product, f.page.entry)
		}
		for _, place := range entries[:min(len(entries), entriesPerRepair)] {
			writes = append(writes, leaderWrite(table, place, settings.shards))
		}
		out = append(out, writes)
		before, after.changes = statistics{stored: stored{item: it}}, after.changes+1
	}
}

// recount is a product whose statistics are being corrected.
type recount struct {
	product string
	// settled is whether its markers were compared with its comments.
	settled bool
	// difference is the error of the counts at the last steady look that found one. marked is the
	// sum of the markers.
	difference, marked comment.Stats
	// restless is how many looks others disturbed by counting since the last hold.
	restless int
	looks    int
	// wrong is whether a write was begun to correct something wrong.
	wrong bool
	// misfit is what was wrong with the page index and the newest positions at the last look; empty
	// if nothing was.
	misfit string
}

// recounter corrects the statistics of products, one step at a time. It is safe for concurrent use
// for different products.
type recounter struct {
	examiner
	transactor call.Transactor
	counter    *Counter
	feed       feed
	pages      merger // nil if the page index is not kept
	owner      string // the rebuild's name in holds
	settings   leaderSettings

	mu     sync.Mutex // guards result
	result RebuildResult
}

// note notes what was done.
func (r *recounter) note(change func(*RebuildResult)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	change(&r.result)
}

func (r *recounter) report(items []layout.Improper) {
	r.note(func(result *RebuildResult) { result.Improper = append(result.Improper, items...) })
}

// bring takes one step towards correct statistics, and reports whether they are correct.
func (r *recounter) bring(ctx context.Context, rc *recount) (done bool, err error) {
	if rc.looks++; rc.looks > mostLooks {
		return false, comment.Errorf(comment.Throttled, "the statistics of product %q change too often to be counted anew; run the rebuild again, it goes on where it was", rc.product)
	}
	started := time.Now()
	seen, err := r.examineAndSettle(ctx, rc)
	if err != nil {
		return false, err
	}
	if done, err = r.judge(ctx, rc, seen); done || err != nil {
		return done, err
	}
	if rc.restless == restlessLooks {
		rc.restless = 0
		return false, r.changeHold(ctx, rc.product, max(holdAtLeast, holdLooks*time.Since(started)))
	}
	return false, nil
}

// examineAndSettle looks at the markers of a product. The first time it also corrects markers that
// do not match their comments.
func (r *recounter) examineAndSettle(ctx context.Context, rc *recount) (*examination, error) {
	if rc.settled {
		return r.examine(ctx, rc.product, nil)
	}
	fits := true
	seen, err := r.examine(ctx, rc.product, func(ctx context.Context, ids []comment.ID) error {
		fits = false
		return r.settle(ctx, rc.product, ids)
	})
	if err != nil || seen.before.damage != nil {
		return seen, err
	}
	r.report(seen.improper)
	if rc.settled = true; fits {
		return seen, nil
	}
	return r.examine(ctx, rc.product, nil)
}

// settle corrects the markers of comments that are counted wrongly, and notes how many these are.
// It includes those that the next look finds right because the answer to a write was lost.
func (r *recounter) settle(ctx context.Context, product string, ids []comment.ID) error {
	wrong := map[comment.ID]struct{}{}
	for len(ids) > 0 {
		err := call.Retry(ctx, func() (further bool, err error) {
			found, err := r.misfits(ctx, product, ids)
			if err != nil {
				return false, err
			}
			// The feed comes first: once comments are counted, nothing shows that the feed lacks
			// them.
			entries := make([]pageindex.Entry, len(found))
			for i, m := range found {
				entries[i] = pageindex.Entry{Product: product, Position: m.ID.Position(), Cell: m.Cell, Follows: m.marker.entryPosition()}
			}
			if err := apply(ctx, r.feed, entries); err != nil {
				return false, err
			}
			pending := workload{}
			for _, m := range found {
				pending.add(product, m.standing)
				wrong[m.ID] = struct{}{}
			}
			refused := refusals{}
			further, err = r.counter.round(ctx, pending, refused, false)
			for _, cause := range refused {
				return false, cause
			}
			ids = nil
			for _, s := range pending[product] {
				ids = append(ids, s.ID)
			}
			if errors.Is(err, errHeld) { // by an interrupted rebuild
				err = errors.Join(err, r.changeHold(ctx, product, 0))
			}
			return further, err
		})
		if err != nil {
			return call.Wrap(err, "comments of product %q", product)
		}
	}
	r.note(func(result *RebuildResult) { result.Comments += len(wrong) })
	return nil
}

// judge repairs what a look found wrong. It corrects a difference between markers and counts once
// two steady looks in a row have found it.
func (r *recounter) judge(ctx context.Context, rc *recount, seen *examination) (done bool, err error) {
	if !seen.steady() {
		rc.restless++
		return false, nil
	}
	after, sure := rc.arrange(seen)
	if !sure {
		return false, nil
	}
	fix := repairOf(seen, after, pageHeadOf(seen, time.Now()), r.settings)
	if !fix.needed {
		r.noteRepaired(rc) // by a write whose answer was lost
		if r.pages != nil && (seen.runs.unsplit() || len(seen.marked) == 0) {
			// Earlier merges left large runs to split, or the index of a product without comments.
			err = r.merge(ctx, rc.product)
		}
		return true, err
	}
	misfit := seen.runs.wrong() + fix.newest
	if len(fix.difference) > 0 && !maps.Equal(fix.difference, rc.difference) || misfit != rc.misfit {
		if rc.difference != nil { // others counted between the looks
			rc.restless++
		}
		rc.difference, rc.misfit = fix.difference, misfit
		return false, nil
	}
	if fix.page.starts {
		if err := r.merge(ctx, rc.product); err != nil { // deletes the remains of an earlier index
			return false, err
		}
	}
	rc.wrong = rc.wrong || fix.wrong
	for _, writes := range fix.transactions(r.table, r.settings) {
		if err := call.Transact(ctx, r.transactor, writes); err != nil {
			rc.restless++
			if call.Transient(err) {
				return false, nil
			}
			return false, err
		}
	}
	r.noteRepaired(rc)
	if fix.page.starts || fix.page.ends {
		err = r.merge(ctx, rc.product)
	}
	return rc.settled && !fix.page.ends, err
}

// noteRepaired counts a product that was wrong and is now correct.
func (r *recounter) noteRepaired(rc *recount) {
	if rc.wrong {
		r.note(func(result *RebuildResult) { result.Repaired++ })
	}
	rc.wrong = false
}

// merge merges the log of a product's page index, or deletes the remains of an index that ended.
func (r *recounter) merge(ctx context.Context, product string) error {
	return call.Wrap(r.pages.Merge(ctx, product), "page index of product %q", product)
}

// arrange decides which languages get rows of their own. To give a row to another language, it
// needs the true counts of each, not only their error. So it does that only once two looks in a row
// find the same sums. A product that is counted all the time keeps its rows.
func (rc *recount) arrange(seen *examination) (after statistics, sure bool) {
	byUse, kept := arranged(seen.marked, nil), arranged(seen.marked, seen.before.stats)
	if maps.Equal(byUse.stats, kept.stats) || maps.Equal(rc.marked, seen.marked) {
		return byUse, true
	}
	first := rc.marked == nil
	rc.marked = seen.marked
	return kept, !first
}

// changeHold makes other processes wait before they count a product, so that its markers can be
// added up. A length of 0 releases them. If this rebuild ends, the hold expires.
func (r *recounter) changeHold(ctx context.Context, product string, length time.Duration) error {
	return call.Retry(ctx, func() (further bool, err error) {
		now, err := r.statistics(ctx, product)
		if err != nil || now.changes == 0 { // missing: others may create them
			return false, err
		}
		condition, values := now.unchanged()
		if now.hold = (hold{}); length > 0 {
			now.hold = hold{owner: r.owner, until: time.Now().Add(length)}
		}
		return false, call.Transact(ctx, r.transactor, []types.TransactWriteItem{
			call.PutIf(r.table, statisticsItem(product, now, r.settings.shards), condition, values),
			r.settings.guard(r.table, product),
		})
	})
}

// refile corrects the keys of comments that a scan found to be wrong, if they still are, on
// condition that nothing changes meanwhile. Lists follow from the state: a comment that is not
// approved leaves them, and an approved one joins those that it lacks. The stream record of that is
// counted like any other.
func (r *recounter) refile(ctx context.Context, misfiled []layout.IndexKeys) error {
	for _, seen := range misfiled {
		wrong := false
		err := call.Retry(ctx, func() (further bool, err error) {
			key := layout.CommentKey(seen.ID)
			items, err := fetch(ctx, r.client, r.table, []layout.Item{key})
			if err != nil {
				return false, err
			}
			there := items[keyOf(key)]
			if layout.NoComment(there) {
				return false, nil
			}
			keys, err := layout.IndexKeysOf(there)
			if err != nil || len(keys.Wrong()) == 0 {
				return false, nil // an error means a change by hand since the scan; the next scan reports it
			}
			wrong = true
			update, condition, values := keys.Correction()
			return false, call.Transact(ctx, r.transactor, []types.TransactWriteItem{call.UpdateIf(r.table, key, update, condition, values)})
		})
		if err != nil {
			return call.Wrap(err, "keys of comment %s", seen.ID)
		}
		if wrong {
			r.note(func(result *RebuildResult) { result.Refiled++ })
		}
	}
	return nil
}

func (r *recounter) recountVotes(ctx context.Context, ids []comment.ID) error {
	for _, id := range ids {
		wrong, err := call.Retried(ctx, func() (VoteDifference, error) { return CompareVotes(ctx, r.client, r.table, id) })
		if err != nil {
			return err
		}
		if wrong.Detail == "" {
			continue
		}
		if err := r.counter.votes.Recount(ctx, id); err != nil {
			return err
		}
		r.note(func(result *RebuildResult) { result.Recounted++ })
	}
	return nil
}
