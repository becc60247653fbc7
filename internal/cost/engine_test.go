package cost

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo"
	"github.com/talkback/talkback/dynamo/call"
	"github.com/talkback/talkback/dynamo/counts"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/dynamo/planner"
	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/internal/dynamotest"
	"github.com/talkback/talkback/pageindex/table"
	"github.com/talkback/talkback/stream"
)

// shop is a small shop on the local engine.
type shop struct {
	t        *testing.T
	w        Workload
	meter    *dynamotest.Meter
	store    *dynamo.Store
	counter  *counts.Counter
	chance   *rand.Rand
	stats    map[string]comment.Stats
	position int
	comments []comment.Comment
	client   *dynamodb.Client
	table    string
}

func newShop(t *testing.T, w Workload) *shop {
	t.Helper()
	s := &shop{t: t, w: w, meter: &dynamotest.Meter{}, chance: rand.New(rand.NewPCG(1, 2)), stats: map[string]comment.Stats{}}
	client, name := call.Observed(call.NewLocalClient(dynamotest.Dynoxide(t)), s.meter), dynamotest.TableName(t)
	must.Do(t, dynamo.CreateTable(t.Context(), client, name))
	s.client, s.table = client, name
	pages := table.New(client, name)
	s.counter = counts.NewCounter(client, name, counts.CounterOptions{Pages: pages})
	s.store = dynamo.NewStore(client, name, dynamo.Options{PageNumbers: pages, Knowledge: func(q comment.Query) planner.Knowledge {
		return planner.Knowledge{Stats: s.stats[q.Product], Trusted: true, Sizes: w.sizes()}
	}})
	var all []comment.Comment
	for rank := 1.0; rank <= w.Products; rank++ {
		for range int(max(1, w.Comments/harmonic(w.Products)/rank)) {
			all = append(all, s.write(rank, comment.Approved))
		}
	}
	must.Get(dynamo.NewLoader(client, name, 8).Load(t.Context(), all))(t)
	s.count(all...)
	return s
}

// product draws a product by its popularity.
func (s *shop) product() float64 {
	at := s.chance.Float64() * harmonic(s.w.Products)
	for rank := 1.0; ; rank++ {
		if at -= 1 / rank; at < 0 || rank == s.w.Products {
			return rank
		}
	}
}

func nameOf(rank float64) string { return fmt.Sprintf("product-%06.0f", rank) }

// write returns a comment like the workload's, with a likely language and rating.
func (s *shop) write(rank float64, status comment.Status) comment.Comment {
	c := s.w.example()
	var distinct [10]byte
	s.position++
	distinct[0], distinct[1] = byte(s.position>>8), byte(s.position)
	c.ID = comment.IDOf(comment.PositionAt(moment.Add(time.Duration(s.position)*time.Minute), distinct))
	c.ProductID, c.Status, c.Rating, c.Language = nameOf(rank), status, 1, languages(1)[0]
	_, share := math.Modf(float64(s.position) * math.Phi) // evenly spread, so that a few comments have typical ratings
	for ; c.Rating < comment.MaxRating && share > planner.LikelyRatings()[c.Rating-1]; c.Rating++ {
		share -= planner.LikelyRatings()[c.Rating-1]
	}
	for i := 1; i < int(s.w.Languages) && s.chance.IntN(2) == 0; i++ {
		c.Language = languages(int(s.w.Languages))[i]
	}
	const spread = 1.0 // standard deviation of the logarithms of sizes, as in real reviews
	c.Text = text(s.w.TextBytes*math.Exp(spread*s.chance.NormFloat64()-spread*spread/2), s.chance)
	if status == comment.Pending {
		c.Moderation = &comment.Moderation{Held: []comment.HoldReason{comment.HeldAlways}, Since: moment}
	}
	return c
}

// count counts new comments, like records of the stream.
func (s *shop) count(added ...comment.Comment) {
	s.t.Helper()
	var records []stream.Record
	for _, c := range added {
		s.position++
		records = append(records, stream.Record{
			Position: stream.PositionOf("2026-06-01T00:00:00.000", fmt.Sprint(s.position)), Keys: layout.CommentKey(c.ID), New: layout.Encode(c),
		})
		if s.stats[c.ProductID] == nil {
			s.stats[c.ProductID] = comment.Stats{}
		}
		s.stats[c.ProductID].Add(c.Cell(), 1)
		s.comments = append(s.comments, c)
	}
	must.Do(s.t, s.counter.Handle(s.t.Context(), records))
}

// consumed returns the capacity that a function consumes, including merges that follow from it.
func (s *shop) consumed(do func()) (reads, writes float64) {
	s.counter.AwaitMerges(s.t.Context())
	s.meter.Take()
	do()
	s.counter.AwaitMerges(s.t.Context())
	return s.meter.Take()
}

// The bill's write units for each operation equal exactly those that the engine bills for the same
// calls of the Store. Counting is a mean over products, so its units are only close.
func TestTheEngineBillsDeeds(t *testing.T) {
	w := Typical()
	w.Products, w.Comments, w.NewComments, w.Edits, w.Deletions, w.Votes, w.Replies, w.Reports = 8, 60, 1, 1, 1, 1, 1, 1
	w.Held = .5
	s := newShop(t, w)
	ctx := t.Context()
	c, held := s.comments[0], comment.Comment{}
	edited := c
	edited.Text, edited.Version, edited.UpdatedAt = text(w.TextBytes, s.chance), 2, &moment
	replied := edited
	replied.Reply = &comment.Reply{Text: text(w.ReplyBytes, s.chance), Name: shopName, CreatedAt: moment, Version: 1}
	reported := replied
	reported.Moderation = &comment.Moderation{Reports: 1}
	for _, row := range []struct {
		what string
		do   func()
	}{
		{"new comments", func() { must.Get(s.store.Add(ctx, s.write(1, comment.Approved), "key 1"))(t) }},
		{"new comments that wait", func() { held = must.Get(s.store.Add(ctx, s.write(1, comment.Pending), "key 2"))(t) }},
		{"their approval", func() {
			approved := held
			approved.Status, approved.Moderation = comment.Approved, nil
			must.Do(t, s.store.Decide(ctx, held, approved, comment.Decision{CommentID: held.ID, Position: held.ID.Position(), From: comment.Pending, To: comment.Approved, Version: 1}))
		}},
		{"edits of texts", func() { must.Do(t, s.store.Replace(ctx, c, edited)) }},
		{"replies", func() { must.Do(t, s.store.SetReply(ctx, edited, replied.Reply)) }},
		{"reports", func() {
			must.Do(t, s.store.Report(ctx, replied, reported, comment.Report{By: customerID, Reason: "SPAM", At: moment}))
		}},
		{"votes", func() {
			must.Do(t, s.store.SetVote(ctx, c.ID, comment.CastVote{}, comment.CastVote{By: customerID, Vote: comment.Helpful, At: moment}))
		}},
		{"deletions", func() { must.Do(t, s.store.Delete(ctx, reported)) }},
	} {
		at := slices.IndexFunc(w.deeds(), func(d deed) bool { return d.what == row.what })
		billed := w.deeds()[at].writes
		if _, wrote := s.consumed(row.do); wrote != billed.Total() {
			t.Errorf("%s: the engine bills %v write units, and a bill has %v: %v", row.what, wrote, billed.Total(), billed)
		}
	}
}

func TestTheEngineBillsCounting(t *testing.T) {
	w := Typical()
	w.Products, w.Comments = 40, 400
	s := newShop(t, w)
	const many = 80
	var added []comment.Comment
	for range many {
		added = append(added, must.Get(s.store.Add(t.Context(), s.write(s.product(), comment.Approved), ""))(t))
	}
	reads, writes := s.consumed(func() {
		for _, c := range added {
			s.count(c)
		}
	})
	near(t, "write units of counting a comment", writes/many, w.countingCost(false).writes.Total(), .05)
	near(t, "read units of counting a comment", reads/many, w.countingCost(false).reads, .05)
}

// A change of a comment that changes no counts is looked at, too. A bill without these reads is a
// third too low.
func TestTheEngineBillsLooks(t *testing.T) {
	w := Typical()
	w.Products, w.Comments, w.NewComments, w.Edits, w.Votes, w.Replies, w.Reports = 8, 60, 1, 1, 1, 1, 1
	w.Held = .5
	s := newShop(t, w)
	c := s.comments[0]
	edited, replied, reported, voted := c, c, c, c
	edited.Text, edited.Version, edited.UpdatedAt = "It pours well.", 2, &moment
	replied.Reply = &comment.Reply{Text: "Thank you.", Name: shopName, CreatedAt: moment, Version: 1}
	reported.Moderation = &comment.Moderation{Reports: 1}
	voted.Votes = comment.VoteCounts{NotHelpful: 1} // with a helpful one it gets a trait, which is counted
	for _, row := range []struct {
		what   string
		old    layout.Item
		now    comment.Comment
		beside float64 // other reads
	}{
		{"new comments that wait", nil, s.write(1, comment.Pending), 0},
		{"edits of texts", layout.Encode(c), edited, 0},
		{"replies", layout.Encode(c), replied, 0},
		{"reports", layout.Encode(c), reported, 0},
		{"votes", layout.Encode(c), voted, votingCost(c).reads},
	} {
		s.position++
		record := stream.Record{Position: stream.PositionOf("2026-06-01T00:00:00.000", fmt.Sprint(s.position)), Keys: layout.CommentKey(row.now.ID), Old: row.old, New: layout.Encode(row.now)}
		reads, writes := s.consumed(func() { must.Do(t, s.counter.Handle(t.Context(), []stream.Record{record})) })
		at := slices.IndexFunc(w.deeds(), func(d deed) bool { return d.what == row.what })
		near(t, "read units of looking at "+row.what, reads, w.deeds()[at].countingReads-row.beside, .05)
		if writes != 0 {
			t.Errorf("%s: %v write units to count nothing", row.what, writes)
		}
	}
}

// near fails the test unless the measured value is within a share of the expected one.
func near(t *testing.T, what string, got, want, share float64) {
	t.Helper()
	t.Logf("%s: the engine bills %.2f, a bill has %.2f", what, got, want)
	if math.Abs(got-want) > share*want {
		t.Errorf("%s: the engine bills %.2f, and a bill has %.2f, more than %.0f %% off", what, got, want, 100*share)
	}
}

// The bill's read units for pages are close to those that the engine bills for pages of products,
// drawn by popularity.
func TestTheEngineBillsPages(t *testing.T) {
	w := Typical()
	w.Products, w.Comments, w.Languages = 12, 1500, 2
	s := newShop(t, w)
	for _, page := range w.pages() {
		total, views := 0.0, 0.0
		for rank := 1.0; rank <= w.Products; rank++ {
			read, _ := s.consumed(func() { s.view(page.what, nameOf(rank)) })
			total += read / rank
			views += 1 / rank
		}
		within := .06
		if page.what == "pages by number" { // a last page is short or long, which evens out over more products
			within = .12
		}
		near(t, page.what, total/views, page.units.Total(), within)
	}
}

func (s *shop) view(kind, product string) {
	ctx := s.t.Context()
	q := comment.Query{Product: product, Order: comment.NewestFirst, Slice: comment.Slice{Size: int(s.w.PageSize)}}
	statistics := []string{product}
	total := s.stats[product].Total()
	switch kind {
	case "lists of products":
		statistics = nil
		for rank := 1.0; rank <= s.w.ListSize; rank++ {
			statistics = append(statistics, nameOf(rank))
		}
	case "leaderboards":
		must.Get(s.store.Leaders(ctx, "", int(s.w.Leaders)))(s.t)
		return
	case "further pages":
		statistics, q.Slice.After = nil, s.after(product, min(total-1, int(s.w.PageSize)))
	case "pages by number":
		q.Slice.Page = min(deepPage, (total-1)/q.Slice.Size+1)
	case "filtered lists":
		q.Filter, _ = comment.Filter{Languages: languages(1), Ratings: []int{4, 5}}.Normalize()
	}
	if kind != "lists of products" {
		must.Get(s.store.Comments(ctx, q))(s.t)
	}
	if statistics != nil {
		_, _, err := s.store.StatsOf(ctx, statistics)
		must.Do(s.t, err)
	}
}

// after returns the place of a product's nth newest comment.
func (s *shop) after(product string, n int) *comment.Place {
	for _, c := range slices.Backward(s.comments) {
		if c.ProductID == product {
			if n--; n <= 0 {
				return comment.At(c.ID.Position())
			}
		}
	}
	return nil
}

// Each vote is counted by itself, on a comment that already has some.
func TestTheEngineBillsVotes(t *testing.T) {
	w := Typical()
	w.Products, w.Comments = 1, 1
	s := newShop(t, w)
	c := s.comments[0]
	for i := range 5 {
		must.Do(t, s.store.SetVote(t.Context(), c.ID, comment.CastVote{}, comment.CastVote{By: fmt.Sprint(i), Vote: comment.Helpful, At: moment}))
	}
	recounter := counts.NewVoteRecounter(s.client, s.table, 0)
	must.Do(t, recounter.Recount(t.Context(), c.ID))
	must.Do(t, s.store.SetVote(t.Context(), c.ID, comment.CastVote{}, comment.CastVote{By: "another", Vote: comment.Helpful, At: moment}))
	reads, writes := s.consumed(func() { must.Do(t, recounter.Recount(t.Context(), c.ID)) })
	near(t, "write units of counting a vote", writes, votingCost(c).writes.Total(), 0)
	near(t, "read units of counting a vote", reads, votingCost(c).reads, .05)
}
