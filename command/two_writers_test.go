package command_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/talkback/talkback/internal/commenttest"
	"github.com/talkback/talkback/internal/faulttest"
)

// rival is what someone else does at the same time: with a comment, or with all comments of the
// author.
type rival struct {
	field   string
	by      role
	payload string
	more    map[string]any // of the input, beside the id
	version bool           // the input has the version of the comment as it was at first
	latest  bool           // the input has the version of the comment as it is then
	instead bool           // it deletes all comments of the author first
}

// rivalsOfAdds meet mutations that add a comment.
var rivalsOfAdds = []rival{
	{field: "addComment", by: writer, more: map[string]any{"text": "Another."}},
	{field: "addComment", by: writer, more: map[string]any{"text": "Another.", "idempotencyKey": "k"}},
	{field: "addComment", by: writer, more: map[string]any{"text": "Another."}, instead: true},
}

var rivals = []rival{
	{field: "approveComment", version: true},
	{field: "rejectComment", version: true, more: map[string]any{"reason": "OFF_TOPIC"}},
	{field: "editComment", by: writer, version: true, more: map[string]any{"text": "hush, meanwhile"}},
	{field: "approveComment", latest: true},
	{field: "rejectComment", latest: true, more: map[string]any{"reason": "OFF_TOPIC"}},
	{field: "editComment", by: writer, latest: true, more: map[string]any{"text": "hush, later"}},
	{field: "editComment", more: map[string]any{"isVerifiedPurchase": true}, version: true},
	{field: "withdrawComment", by: writer, version: true},
	{field: "deleteComment", by: writer},
	{field: "replyToComment", more: map[string]any{"version": 0, "text": "Meanwhile.", "name": "Shop"}},
	{field: "reportComment", by: third, more: map[string]any{"reason": "OTHER"}, payload: `userErrors { code path }`},
	{field: "voteOnComment", by: third, more: map[string]any{"vote": "HELPFUL"}},
}

// history is how two mutations ended.
type history struct {
	Own, Others string // what they were answered
	Stands      []string
}

func (h history) equal(o history) bool {
	return h.Own == o.Own && h.Others == o.Others && slices.Equal(h.Stands, o.Stands)
}

// duel is a mutation and another one of somebody else.
type duel struct {
	*lane
	other *api
	who   *sender
	rival rival
}

// meets makes both mutations. The other one is made by order 0 first, by 1 last, and by 2 alone. By
// 3 it is made ahead of a call of the server, whose calls have faults. It returns how many calls
// there were.
func (d *duel) meets(order, at int, plan func(int) faulttest.Fault) (history, int) {
	x := d.trial()
	input := d.w.prepare(x)
	id, version := x.firstID(input), 0
	if d.rival.version {
		version = x.latest(id)
	}
	out := history{Others: "not made"}
	others := sync.OnceFunc(func() { out.Others = d.others(x, id, version) })
	if order == 0 || order == 2 {
		others()
	}
	d.number, d.plan = d.network.Calls(), func(call int) faulttest.Fault {
		if order == 3 && call == at {
			others()
		}
		return plan(call)
	}
	if order != 2 {
		got, said := x.as(d.w.by).sent(context.Background(), d.faulty, d.w, input)
		if out.Own = said; got == unknown {
			out.Own = "unknown"
		}
	}
	calls := d.network.Calls() - d.number
	if order == 1 || calls < at {
		others()
	}
	if err := d.network.Flush(); err != nil {
		d.t.Error(err)
	}
	out.Stands = x.stands()
	if d.w.held && d.w.field != "approveComment" && d.rival.field != "approveComment" {
		x.keepsQuiet("meanwhile", out.Stands)
	}
	return out, calls
}

// others makes the other mutation, and returns what it was answered.
func (d *duel) others(x *trial, id any, version int) string {
	y := &trial{api: d.other, sender: d.who, author: x.author, product: x.product}
	theirs := map[string]any{"id": id}
	switch {
	case d.rival.field == "addComment":
		theirs = y.draft()
	case d.rival.latest:
		version = y.latest(id)
		fallthrough
	case d.rival.version:
		theirs["version"] = version
	}
	if d.rival.instead {
		for _, item := range y.items() {
			if text(item, "SK") == "C" {
				y.as(staff).is("deleteComment", map[string]any{"id": idOf(item)})
			}
		}
	}
	_, said := y.as(d.rival.by).sent(context.Background(), y.api, attempt{field: d.rival.field, payload: d.rival.payload}, with(theirs, d.rival.more))
	return said
}

// latest returns the latest version of a comment, 0 if it is not there.
func (x *trial) latest(id any) int {
	x.tb.Helper()
	if id == nil {
		return 0
	}
	return x.reads(id).latest()
}

// firstID returns the id of the comment that an input is about, or the first of them. A new one has
// none yet.
func (x *trial) firstID(input map[string]any) any {
	if several, ok := input["decisions"].([]any); ok {
		return several[0].(map[string]any)["id"]
	}
	if x.w.field == "eraseAuthor" {
		return idOf(x.items()[0])
	}
	return input["id"]
}

// Somebody else changes the comment ahead of any call of any mutation. Both are answered, and the
// table stands, as if one of them had come after the other, also if an answer of the table was lost
// then.
func TestTwoWritersAtEachCall(t *testing.T) {
	t.Parallel()
	s := newSweep(t)
	r := commenttest.Rand(t)
	var running sync.WaitGroup
	slots := make(chan struct{}, 8)
	for _, w := range attempts {
		others, all := rivals, commenttest.Torture()
		if w.field == "addComment" {
			others, all = rivalsOfAdds, true
		}
		for i, drawn := range r.Perm(len(others)) {
			if i > 0 && !all && r.IntN(4) > 0 {
				continue // over several runs, each meets each
			}
			rival := others[drawn]
			slots <- struct{}{}
			running.Go(func() {
				defer func() { <-slots }()
				t.Run(fmt.Sprintf("%s/%d %s", w.name, drawn, rival.field), func(t *testing.T) {
					newDuel(t, s, w, rival).atEachCall()
				})
			})
		}
	}
	running.Wait()
	s.check()
}

func newDuel(t *testing.T, s *sweep, w attempt, rival rival) *duel {
	w.name += ", " + rival.field
	d := &duel{lane: newLane(t, s, w), rival: rival, who: &sender{}}
	d.other = &api{tb: t, session: d.healthy.session, serve: d.healthy.serve, authorizer: d.who}
	d.other.useClient(d.healthy.session.Client)
	return d
}

func (d *duel) atEachCall() {
	healthy := faulttest.Nth(0, faulttest.None)
	first, _ := d.meets(0, 0, healthy)
	last, calls := d.meets(1, 0, healthy)
	alone, _ := d.meets(2, 0, healthy)
	for n := 1; n <= calls; n++ {
		for _, f := range []faulttest.Fault{faulttest.None, faulttest.AnswerLost, faulttest.Late} {
			at := n
			if f != faulttest.None {
				at++ // what was lost or is late is under way
			}
			got, _ := d.meets(3, at, faulttest.Nth(n, f))
			ambiguous := got.Own == "unknown" && slices.ContainsFunc([]history{first, last, alone}, func(h history) bool {
				return got.Others == h.Others && slices.Equal(got.Stands, h.Stands)
			})
			if !got.equal(first) && !got.equal(last) && !ambiguous {
				d.t.Errorf("ahead of call %d, after %q of call %d:\n%s\nit is not as if the other came first:\n%s\nnor last:\n%s",
					at, f, n, gocmp.Diff(history{}, got), gocmp.Diff(got, first), gocmp.Diff(got, last))
			}
		}
	}
}
