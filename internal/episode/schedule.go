package episode

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"
)

// Kind is how calls fail during an episode.
type Kind string

// The kinds of trouble.
const (
	// Throttled calls are refused, as DynamoDB does it.
	Throttled Kind = "throttled"
	// Slow calls arrive after Delay, even if their caller has left.
	Slow Kind = "slow"
	// HalfOpen calls are never answered, even after the end of the episode. Every second one takes
	// effect.
	HalfOpen Kind = "half-open"
	// AnswersLost calls take effect, and then the connection is reset.
	AnswersLost Kind = "losing answers"
	// Refused calls cannot connect.
	Refused Kind = "refusing connections"
	// Failing calls are answered with a server error. Every second one has taken effect.
	Failing Kind = "failing with 5xx"
)

// Kinds are all kinds of trouble.
var Kinds = []Kind{Throttled, Slow, HalfOpen, AnswersLost, Refused, Failing}

// Episode is trouble with a target for a while.
type Episode struct {
	Kind   Kind
	Target Target
	// Pause is the time before the episode, after the end of the one before.
	Pause time.Duration
	// For is how long it lasts.
	For time.Duration
	// Delay is how long a Slow call takes to arrive.
	Delay time.Duration
}

// String describes the episode, without the pause before it.
func (e Episode) String() string {
	kind := string(e.Kind)
	if e.Kind == Slow {
		kind += fmt.Sprintf(" by %s", e.Delay)
	}
	return fmt.Sprintf("%s %s for %s", e.Target.Name, kind, e.For)
}

// Plan says which episodes to draw.
type Plan struct {
	// Episodes is how many to draw.
	Episodes int
	// Targets and Kinds are what to draw from: the table, its stream, its page index and the index of
	// all comments, and all kinds, if they are empty.
	Targets []Target
	Kinds   []Kind
	// Longest is how long an episode and a pause last at most; 0 is 3 seconds. They last at least a
	// tenth of that. Slow calls take up to twice as long.
	Longest time.Duration
}

// Schedule is a list of episodes, one after the other.
type Schedule struct {
	Seed     uint64
	Episodes []Episode
}

// Draw draws a schedule. The same seed and plan give the same schedule.
func Draw(seed uint64, plan Plan) Schedule {
	r := rand.New(rand.NewPCG(seed, 0))
	longest := cmp.Or(plan.Longest, 3*time.Second)
	targets, kinds := plan.Targets, plan.Kinds
	if len(targets) == 0 {
		targets = []Target{Table, Stream, PageIndex, Index("all")}
	}
	if len(kinds) == 0 {
		kinds = Kinds
	}
	s := Schedule{Seed: seed}
	for range plan.Episodes {
		s.Episodes = append(s.Episodes, Episode{
			Kind: kinds[r.IntN(len(kinds))], Target: targets[r.IntN(len(targets))],
			Pause: between(r, longest/10, longest), For: between(r, longest/10, longest), Delay: between(r, longest/10, 2*longest),
		})
	}
	return s
}

// between draws a whole number of milliseconds.
func between(r *rand.Rand, least, most time.Duration) time.Duration {
	return (least + time.Duration(r.Int64N(int64(most-least)))).Truncate(time.Millisecond)
}

// String lists the episodes, each with the time of its beginning.
func (s Schedule) String() string {
	var out strings.Builder
	fmt.Fprintf(&out, "%d episodes of seed %d\n", len(s.Episodes), s.Seed)
	at := time.Duration(0)
	for _, e := range s.Episodes {
		at += e.Pause
		fmt.Fprintf(&out, "%9.3fs  %s\n", at.Seconds(), e)
		at += e.For
	}
	return out.String()
}

// Length is the time from the start to the end of the last episode.
func (s Schedule) Length() time.Duration {
	var sum time.Duration
	for _, e := range s.Episodes {
		sum += e.Pause + e.For
	}
	return sum
}
