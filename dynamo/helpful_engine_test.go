package dynamo_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo"
	"github.com/talkback/talkback/dynamo/counts"
	"github.com/talkback/talkback/dynamo/planner"
	"github.com/talkback/talkback/internal/commenttest"
	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/internal/dynamotest"
)

// crowd votes for comments, edits and deletes them, and keeps a model of the result.
type crowd struct {
	*testing.T
	store     *dynamo.Store
	recounter *counts.VoteRecounter
	random    *rand.Rand
	model     *commenttest.Model
	cast      map[comment.VoteKey]comment.CastVote
}

// After votes, edits and deletes, the list of the most helpful comments is the one that the model
// computes from all comments, whatever statistics are known. A comment whose votes were all taken
// back moves to the comments without votes.
func TestMostHelpfulFollowsVotes(t *testing.T) {
	dynamotest.Each(t, func(t *testing.T, endpoint string) {
		client, table := dynamo.NewTable(t, endpoint)
		known := planner.Knowledge{}
		c := &crowd{T: t, random: commenttest.Rand(t), cast: map[comment.VoteKey]comment.CastVote{}, recounter: counts.NewVoteRecounter(client, table, 1)}
		c.store = dynamo.NewStore(client, table, dynamo.Options{Knowledge: func(comment.Query) planner.Knowledge { return known }})
		comments := commenttest.Voted(c.random, commenttest.Many(c.random, "42", 30))
		for i := range comments {
			comments[i].Author.Imported = true
			must.Get(c.store.Add(t.Context(), comments[i], ""))(t)
		}
		c.model = commenttest.NewModel(comments...)
		for range commenttest.Times(30, 200) {
			c.change()
			stats := c.model.Stats("42")
			known = []planner.Knowledge{{}, {Stats: stats, Trusted: true}, {Stats: stats}, {Stats: comment.Stats{"en": {Counts: comment.Counts{500, 9, 9, 9, 900}}}}}[c.random.IntN(4)]
			c.walk(c.random.IntN(2) == 0)
		}
	})
}

// change makes one change of a comment.
func (c *crowd) change() {
	c.Helper()
	all := c.model.All()
	one := all[c.random.IntN(len(all))]
	var err error
	switch after := one; c.random.IntN(8) {
	case 0:
		err = c.store.Delete(c.Context(), one)
		c.model.Delete(one.ID)
	case 1, 2:
		after.Rating, after.Version, after.Media = 1+c.random.IntN(5), one.Version+1, nil
		after.Verified = c.random.IntN(2) == 0
		err = c.store.Replace(c.Context(), one, after)
		c.model.Replace(after)
	default:
		key := comment.VoteKey{Customer: fmt.Sprint("u", c.random.IntN(4)), Comment: one.ID}
		vote := comment.CastVote{By: key.Customer, Vote: []comment.Vote{comment.Helpful, comment.Helpful, comment.NotHelpful, comment.NoVote}[c.random.IntN(4)], At: time.Now()}
		if err = c.store.SetVote(c.Context(), one.ID, c.cast[key], vote); err == nil {
			c.cast[key] = vote
			err = c.recounter.Recount(c.Context(), one.ID)
		}
		after.Votes = one.ImportedVotes
		for key, vote := range c.cast {
			if key.Comment == one.ID {
				after.Votes.Add(vote.Vote, 1)
			}
		}
		c.model.Replace(after)
	}
	must.Do(c, err)
}

// walk pages through a list, and compares it with the model.
func (c *crowd) walk(fromEnd bool) {
	c.Helper()
	q := comment.Query{Product: "42", Order: comment.MostHelpful, Slice: comment.Slice{Size: 1 + c.random.IntN(12), FromEnd: fromEnd}}
	q.Filter.Ratings = [][]int{nil, nil, {5}, {1, 2, 4}}[c.random.IntN(4)]
	q.Filter.Verified = []*bool{nil, nil, new(true)}[c.random.IntN(3)]
	var got []comment.ID
	for {
		page := must.Get(c.store.Comments(c.Context(), q))(c)
		ids := make([]comment.ID, len(page.Comments))
		for i, one := range page.Comments {
			ids[i] = one.ID
		}
		if fromEnd {
			got = append(ids, got...)
		} else {
			got = append(got, ids...)
		}
		if more := page.HasNext && !fromEnd || page.HasPrevious && fromEnd; !more || len(ids) == 0 {
			break
		}
		first, last := q.Order.PlaceOf(page.Comments[0]), q.Order.PlaceOf(page.Comments[len(ids)-1])
		if q.Slice.After = &last; fromEnd {
			q.Slice.After, q.Slice.Before = nil, &first
		}
	}
	list := c.model.List("42", q.Filter, q.Order)
	if !slices.EqualFunc(list, got, func(one comment.Comment, id comment.ID) bool { return one.ID == id }) {
		c.Fatalf("%+v from the end %t lists %v, want %v", q.Filter, fromEnd, got, list)
	}
}
