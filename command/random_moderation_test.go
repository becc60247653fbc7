package command_test

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo"
	"github.com/talkback/talkback/dynamo/counts"
	"github.com/talkback/talkback/internal/commenttest"
	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/internal/dynamotest"
)

// reads sends random public queries. Counts may be as old as before.
func (c *crowdOf) reads(p *person, a *api, before time.Time) {
	c.tb.Helper()
	l := (&scribe{random: p.random, product: debated[p.random.IntN(len(debated))]}).question()
	l.size = 1 + p.random.IntN(8)
	variables := l.variables(false, nil)
	since := func(within span) span { return span{before, within.to} }
	switch p.random.IntN(5) {
	case 0:
		variables["page"] = 1 + p.random.IntN(3)
		p.checkList(a, l, variables, since)
	case 1:
		p.checkList(a, l, variables, since)
	case 2:
		p.checkProduct(a, l.product, since)
	case 3:
		p.checkLeaderboard(a, since)
	default:
		p.checkOne(a, p.any(""))
	}
}

// asks sends a query that must succeed, and checks everything it shows. Page numbers of a product
// that changes all the time may be unavailable for a moment.
func (p *person) asks(a *api, query string, variables map[string]any, data any) span {
	p.tb.Helper()
	var got answer
	var text string
	var within span
	var err error
	must.Wait(p.tb, "the page numbers agree with the comments", func() bool {
		got, text, within, err = p.try(a, query, variables, data)
		return err != nil || len(got.Errors) == 0 || got.Errors[0].Extensions["code"] != "UNAVAILABLE"
	})
	if err != nil || len(got.Errors) > 0 {
		p.tb.Fatalf("%v %s\n%s", err, text, a.log)
	}
	within.from = within.from.Add(-a.serve.PageAge)
	p.public(text, within)
	return within
}

const debatedList = `query ($product: ID!, $filter: CommentFilter, $order: CommentOrder, $first: Int, $page: Int, $after: String, $last: Int, $before: String) {
  product(id: $product) { comments(filter: $filter, order: $order, first: $first, page: $page, after: $after, last: $last, before: $before) {
    nodes ` + askedFields + ` totalCount pageCount pageCursors { last { page } } stats { total ratings { rating count } }
  } }
}`

// checkList asks for a page and counts of a list.
func (p *person) checkList(a *api, l list, variables map[string]any, since func(span) span) {
	p.tb.Helper()
	var data struct {
		Product struct {
			Comments struct {
				TotalCount, PageCount int
				Stats                 statsShown
			}
		}
	}
	within := since(p.asks(a, debatedList, variables, &data))
	filter := mustNormalize(p.tb, l.filter)
	most := p.ledger.most(within, func(w words) bool { return w.product == l.product && w.passes(filter) })
	got := data.Product.Comments
	if got.TotalCount > most || got.Stats.Total > most || got.PageCount > comment.Pages(most, l.size) {
		p.tb.Errorf("%s: %+v, and at most %d comments were approved since %v", l, got, most, within.from)
	}
	p.checkRatings(got.Stats, within, func(w words) bool { return w.product == l.product && w.passes(filter) })
}

// passes reports whether words pass a filter, whatever it says about traits.
func (w words) passes(filter comment.Filter) bool {
	filter.Verified, filter.WithMedia = nil, nil
	return filter.Allows(comment.Comment{ID: comment.ID(w.id), ProductID: w.product, Rating: w.rating, Language: comment.Language(w.language)})
}

func (p *person) checkRatings(got statsShown, within span, want func(words) bool) {
	p.tb.Helper()
	for _, row := range got.Ratings {
		if most := p.ledger.most(within, func(w words) bool { return want(w) && w.rating == row.Rating }); row.Count > most {
			p.tb.Errorf("%d comments with %d stars, and at most %d were approved since %v", row.Count, row.Rating, most, within.from)
		}
	}
}

// checkProduct asks a product for its fields about comments.
func (p *person) checkProduct(a *api, product string, since func(span) span) {
	p.tb.Helper()
	var data struct {
		Product struct {
			Stats           statsShown
			LastCommentedAt *time.Time
		}
	}
	within := p.asks(a, `query ($p: ID!) { product(id: $p) { latestPositive `+askedFields+` latestNegative `+askedFields+` lastCommentedAt stats `+statsFields+` } }`, map[string]any{"p": product}, &data)
	if at := data.Product.LastCommentedAt; at != nil && !p.ledger.newest(product, *at, within) {
		p.tb.Errorf("%s was last commented on at %v, when no comment was written that was approved", product, at)
	}
	of := func(w words) bool { return w.product == product }
	if most := p.ledger.most(since(within), of); data.Product.Stats.Total > most {
		p.tb.Errorf("%s has %d comments, and at most %d were approved", product, data.Product.Stats.Total, most)
	}
	p.checkRatings(data.Product.Stats, since(within), of)
}

// checkLeaderboard asks for the products with the most 5-star comments.
func (p *person) checkLeaderboard(a *api, since func(span) span) {
	p.tb.Helper()
	var data struct{ Leaderboard []leaderShown }
	within := since(p.asks(a, `{ leaderboard(first: 5) { rank count product { id } } }`, nil, &data))
	for _, entry := range data.Leaderboard {
		most := p.ledger.most(within, func(w words) bool { return w.product == entry.Product.ID && w.rating == comment.MaxRating })
		if entry.Count > most {
			p.tb.Errorf("%s has %d comments with 5 stars on the leaderboard, and at most %d were approved", entry.Product.ID, entry.Count, most)
		}
	}
}

// checkOne asks for a comment by its id.
func (p *person) checkOne(a *api, id string) {
	p.tb.Helper()
	var data struct {
		Comment *struct{ Text string }
	}
	within := p.asks(a, `query ($id: ID!) { comment(id: $id) `+askedFields+` node(id: $id) { ... on Comment `+askedFields+` } nodes(ids: [$id]) { ... on Comment `+askedFields+` } }`, map[string]any{"id": id}, &data)
	if data.Comment == nil {
		p.ledger.see(id, hidden, within)
	} else {
		p.ledger.see(id, numbersIn(data.Comment.Text)[0], within)
	}
}

// checkAudit compares the entries of the audit with the acts of moderators and authors. Each
// decision that changed something has exactly one.
func (c *crowdOf) checkAudit(store *dynamo.Store) {
	c.tb.Helper()
	entries, withdrawn := map[string]int{}, map[string]int{}
	for _, id := range c.ids("") {
		audit := must.Get(store.Audit(context.Background(), comment.ID(id)))(c.tb)
		for _, d := range audit {
			if d.Note != "" {
				entries[d.Note]++
			} else {
				withdrawn[fmt.Sprint(id, d.Version)]++
			}
		}
	}
	for _, v := range c.verdicts {
		found, also := entries[v.note], c.settled(v)
		if v.note == "" {
			found = withdrawn[fmt.Sprint(v.id, v.version)]
		}
		if v.outcome == refused && found > 0 && v.note != "" || found > 1 || v.outcome == success && found == 0 && !also {
			c.tb.Errorf("the audit has %d entries of %+v", found, v)
		}
	}
}

// settled reports whether others may have left nothing to change for a decision that succeeded.
func (c *crowdOf) settled(v *ruling) bool {
	if !v.reject {
		calls := c.ledger.shown[v.about]
		return slices.ContainsFunc(calls, func(call *span) bool { return call != v.showing && call.from.Before(v.within.to) })
	}
	return slices.ContainsFunc(c.verdicts, func(other *ruling) bool {
		return other != v && other.id == v.id && other.reject && other.version <= v.version && other.outcome != refused && other.within.from.Before(v.within.to)
	})
}

// checkQueue compares the queue with the comments: each that waits has one place, and no other has
// any.
func (c *crowdOf) checkQueue(comments []comment.Comment) {
	c.tb.Helper()
	places := map[string]int{}
	for _, item := range scan(c.tb, c.session.Client, c.session.Table, "boards") {
		places[text(item, "PK")]++
	}
	for _, one := range comments {
		m := one.Moderation
		waits := one.Status == comment.Pending || one.HeldEdit() != nil || m != nil && slices.Contains(m.Held, comment.HeldReported)
		want := map[bool]int{true: 1}[waits]
		if got := places["C#"+string(one.ID)[len(comment.IDPrefix):]]; got != want {
			c.tb.Errorf("%s, which is %s with %+v, has %d places in the queue", one.ID, one.Status, m, got)
		}
		if m == nil {
			continue
		}
		reported := slices.Contains(m.Held, comment.HeldReported)
		if reported && m.Reports < reportThreshold || len(m.Held) > 0 != waits || one.Status == comment.Rejected && m.Reports > 0 {
			c.tb.Errorf("%s is %s with %+v", one.ID, one.Status, m)
		}
	}
}

// checkVotes compares the votes shown on comments with those cast.
func (c *crowdOf) checkVotes(store *dynamo.Store) {
	c.tb.Helper()
	if len(c.votes) == 0 {
		c.tb.Error("nobody voted")
	}
	for id, of := range c.votes {
		one, err := store.Comment(context.Background(), comment.ID(id))
		if comment.KindOf(err) == comment.NotFound {
			continue
		}
		must.Do(c.tb, err)
		least, most := comment.VoteCounts{}, comment.VoteCounts{}
		for _, votes := range of {
			certain := len(votes) == 1
			for _, counts := range []struct {
				vote        comment.Vote
				least, most *int
			}{{comment.Helpful, &least.Helpful, &most.Helpful}, {comment.NotHelpful, &least.NotHelpful, &most.NotHelpful}} {
				if slices.Contains(votes, counts.vote) {
					*counts.most++
					if certain {
						*counts.least++
					}
				}
			}
		}
		if got := one.Votes; got.Helpful < least.Helpful || got.Helpful > most.Helpful || got.NotHelpful < least.NotHelpful || got.NotHelpful > most.NotHelpful {
			c.tb.Errorf("%s shows %+v, and has at least %+v and at most %+v", id, got, least, most)
		}
	}
}

// checkEnd compares everything with the comments that exist in the end, when nobody acts any more.
func (c *crowdOf) checkEnd(r *rand.Rand) {
	c.tb.Helper()
	store := dynamo.NewStore(c.session.Client, c.session.Table, dynamo.Options{})
	var ids []comment.ID
	for _, id := range c.ids("") {
		ids = append(ids, comment.ID(id))
	}
	var all []comment.Comment
	model := commenttest.NewModel()
	now := time.Now()
	for part := range slices.Chunk(ids, 100) {
		found, failed, err := store.CommentsByID(context.Background(), part, false)
		if err != nil || len(failed) > 0 {
			c.tb.Fatal(err, failed)
		}
		for _, one := range found {
			all = append(all, one)
			if one.Status == comment.Approved {
				model.Insert(one)
				c.public(one.Text, span{now, time.Now()})
			}
		}
	}
	c.checkAudit(store)
	c.checkQueue(all)
	c.drained(time.Now())
	c.checkVotes(store)
	anonymous := &api{tb: c.tb, session: c.session, authorizer: c.authorizer, pages: c.pages, watermark: c.watermark}
	anonymous.useClient(c.session.Client)
	s := &scribe{api: anonymous, random: r, model: model}
	for _, product := range debated {
		anonymous.checkStats(r, model, product)
		s.product = product
		for range 3 {
			l := s.question()
			want := model.List(product, mustNormalize(c.tb, l.filter), l.order)
			anonymous.walk(l, r.IntN(2) == 0, want)
			for page := range comment.Pages(len(want), l.size) {
				variables := l.variables(false, nil)
				variables["page"] = page + 1
				anonymous.checkNumbered(l, anonymous.numbered(variables), want, page+1)
			}
		}
	}
	anonymous.checkLeaders(model, "", 20)
	if status, out, said := c.talkback("verify"); status != 0 {
		c.tb.Errorf("verify: %s%s", out, said)
	}
}

// Authors, moderators, customers who report or vote, and a merchant act at random over bad
// networks, while others read and rebuild the counts. Whatever is shown was approved at some moment
// of its read. In the end each decision has one entry in the audit, and each waiting comment one
// place in the queue. The counts are those of the approved comments.
func TestRandomModeration(t *testing.T) {
	t.Parallel()
	r := commenttest.Rand(t)
	c := newCrowd(t, dynamotest.Dynoxide(t))
	stop := c.consumeBy(c.session.Client, counts.CounterOptions{Pages: c.kept, Logger: slog.New(slog.DiscardHandler)})
	defer func() { stop() }()
	var doing []func()
	for _, name := range []string{"ada", "ada", "bo"} { // one at two devices
		author := c.joined(t, r, name, 6)
		for range 4 {
			author.add([]*api{author.publishing, author.holding}[r.IntN(2)])
		}
		doing = append(doing, author.writes)
	}
	for _, name := range []string{"m1", "m2"} {
		doing = append(doing, c.joined(t, r, name, 6, "moderator").moderates)
	}
	doing = append(doing, c.joined(t, r, "shop", 6, "merchant").replies)
	var customers []*person
	for i := range 5 {
		customers = append(customers, c.joined(t, r, fmt.Sprint("customer ", i), 6))
	}
	doing = append(doing, func() { customers[customers[0].random.IntN(len(customers))].reports() })
	doing = append(doing, c.joined(t, r, "voter 1", 6).casts, c.joined(t, r, "voter 2", 6).casts)

	var busy, readers sync.WaitGroup
	for _, do := range doing {
		busy.Go(func() {
			for range commenttest.Times(60, 600) {
				do()
			}
		})
	}
	ctx, done := context.WithCancel(t.Context())
	for _, age := range []time.Duration{0, 50 * time.Millisecond} {
		a := &api{tb: t, session: c.session, authorizer: c.authorizer, pages: c.pages, watermark: c.watermark}
		a.serve.PageAge, a.serve.StatisticsAge = age, 300*time.Millisecond
		a.useClient(c.session.Client)
		reader := &person{crowdOf: c, random: rand.New(rand.NewPCG(r.Uint64(), 4))}
		readers.Go(func() {
			for ctx.Err() == nil {
				upTo, _, err := c.watermark.ProcessedUpTo(context.Background())
				if err != nil {
					t.Error(err)
				}
				c.reads(reader, a, upTo.Add(-a.serve.StatisticsAge)) // counts may be that old
			}
		})
	}
	readers.Go(func() { // decisions during a rebuild of a product are counted once
		for ctx.Err() == nil {
			if status, out, said := c.talkback("rebuild"); status != 0 {
				t.Errorf("rebuild: %s%s", out, said)
			}
		}
	})
	busy.Wait()
	done()
	readers.Wait()
	for _, network := range c.networks {
		if err := network.Flush(); err != nil {
			t.Error(err)
		}
	}
	c.checkEnd(r)
}
