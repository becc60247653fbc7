package command_test

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/talkback/talkback/internal/commenttest"
	"github.com/talkback/talkback/internal/dynamotest"
	"github.com/talkback/talkback/internal/faulttest"
)

// register is a comment as far as concurrent edits are concerned.
type register struct {
	version int
	text    string
}

// asked is an operation of a client on the comment: a read or, with a version, an edit of that
// version.
type asked struct {
	version int
	text    string
}

// told is the answer to it.
type told struct {
	outcome outcome
	seen    register // what a read saw
}

// commentModel is the comment when one client acts after the other. An edit succeeds if it names
// the current version, and is refused otherwise. An edit with an unknown outcome was made or not.
var commentModel = porcupine.NondeterministicModel{
	Init: func() []any { return []any{register{version: 1, text: "first"}} },
	Step: func(state, input, output any) []any {
		now, in, out := state.(register), input.(asked), output.(told)
		edited := register{version: in.version + 1, text: in.text}
		switch {
		case in.version == 0 && out.seen == now:
			return []any{now}
		case in.version == 0:
			return nil
		case out.outcome == success && in.version == now.version:
			return []any{edited}
		case out.outcome == refused && in.version != now.version:
			return []any{now}
		case out.outcome == unknown && in.version == now.version:
			return []any{now, edited}
		case out.outcome == unknown:
			return []any{now}
		}
		return nil
	},
	DescribeOperation: func(input, output any) string { return fmt.Sprintf("%+v: %+v", input, output) },
}

// editor edits one comment over and over, beside others.
type editor struct {
	*api
	number  int
	id      string
	random  *rand.Rand
	start   time.Time
	history []porcupine.Operation
}

func (e *editor) note(in asked, out told, call int64) {
	end := time.Since(e.start).Nanoseconds()
	if out.outcome == unknown {
		end = math.MaxInt64 // it may still take effect
	}
	e.history = append(e.history, porcupine.Operation{ClientId: e.number, Input: in, Call: call, Output: out, Return: end})
}

// read reads the comment, and records nothing if there is no answer.
func (e *editor) read() (register, bool) {
	call := time.Since(e.start).Nanoseconds()
	got := e.ask(`query ($id: ID!) { comment(id: $id) { version text } }`, map[string]any{"id": e.id})
	if len(got.Errors) > 0 {
		return register{}, false
	}
	var data struct {
		Comment struct {
			Version int
			Text    string
		}
	}
	if err := json.Unmarshal(got.Data, &data); err != nil {
		e.tb.Error(err)
	}
	seen := register{version: data.Comment.Version, text: data.Comment.Text}
	e.note(asked{}, told{seen: seen}, call)
	return seen, true
}

// edit tries to change a version of the comment. An edit that was throttled had no effect, whatever
// the version, so the history leaves it out.
func (e *editor) edit(version, round int) {
	in := asked{version: version, text: fmt.Sprintf("editor %d, round %d", e.number, round)}
	call := time.Since(e.start).Nanoseconds()
	got, said := e.sent(editing, map[string]any{"id": e.id, "version": in.version, "text": in.text})
	if got == refused && said != "CONFLICT version" {
		return
	}
	e.note(in, told{outcome: got}, call)
}

var editing = attempt{field: "editComment", input: "EditCommentInput"}

func (e *editor) run(rounds int) {
	for round := range rounds {
		seen, ok := e.read()
		if ok && e.random.IntN(4) > 0 {
			e.edit(seen.version, round)
		}
	}
}

// However many clients edit one comment at once over a network that loses, delays and damages
// messages, exactly one of them makes each version. Everyone sees the same history.
func TestConcurrentEdits(t *testing.T) {
	t.Parallel()
	dynamotest.Each(t, func(t *testing.T, endpoint string) {
		r := commenttest.Rand(t)
		for range timesOn(t, 4, 1, 16) {
			checkConcurrentEdits(t, newAPI(t, endpoint), r)
		}
	})
}

func checkConcurrentEdits(t *testing.T, a *api, r *rand.Rand) {
	t.Helper()
	id := a.add(with(draft(), map[string]any{"text": "first"})).Comment.ID
	start := time.Now()
	editors := make([]*editor, 4)
	var group sync.WaitGroup
	for i := range editors {
		client, network := faulttest.Under(a.session.Client, faulttest.OneIn(r, 3))
		mine := &api{tb: t, session: a.session}
		mine.useClient(client)
		editors[i] = &editor{api: mine, number: i, id: id, random: rand.New(rand.NewPCG(r.Uint64(), 2)), start: start}
		group.Go(func() {
			editors[i].run(12)
			if err := network.Flush(); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	last := &editor{api: a, number: len(editors), id: id, start: start}
	if _, ok := last.read(); !ok {
		t.Fatal("the comment cannot be read in the end")
	}
	history := last.history
	for _, e := range editors {
		history = append(history, e.history...)
	}
	checkHistory(t, history)
	everything(t, a.session.Client, a.session.Table, "teapot")
}

func checkHistory(t *testing.T, history []porcupine.Operation) {
	t.Helper()
	winners := map[int]int{}
	for _, o := range history {
		if in := o.Input.(asked); in.version > 0 && o.Output.(told).outcome == success {
			winners[in.version]++
		}
	}
	for version, count := range winners {
		if count > 1 {
			t.Errorf("%d edits of version %d were told that they won", count, version)
		}
	}
	if len(winners) < 2 {
		t.Errorf("only %d edits got through: this proves little", len(winners))
	}
	if result := porcupine.CheckOperationsTimeout(commentModel.ToModel(), history, time.Minute); result != porcupine.Ok {
		slices.SortFunc(history, func(a, b porcupine.Operation) int { return int(a.Call - b.Call) })
		for _, o := range history {
			t.Logf("%d: %d to %d: %+v %+v", o.ClientId, o.Call, o.Return, o.Input, o.Output)
		}
		t.Errorf("the history is not one of a single comment: %v", result)
	}
}
