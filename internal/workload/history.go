package workload

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// lateness is how late lists may show a comment that another server wrote, or that the server does
// not know it wrote. It covers 5 seconds of --statistics-age, and the differences of clocks.
const lateness = 7 * time.Second

// content is the text and other values of a comment. Each state of each comment has its own text,
// which identifies it.
type content struct {
	product, language, text string
	rating, version         int
}

// state is a comment's content during an interval.
type state struct {
	content *content // nil while there is no such comment
	from    time.Time
	until   time.Time // when it was certainly over; zero while it may last
}

// story is the history of one comment. The states are in order; several may be possible at a time.
type story struct {
	id     string // empty until an answer shows it
	states []state
	// pending says that it is not known which of several states it is in, and that no answer to come
	// can tell.
	pending bool
	// settled is the time from which on lists have to show the last state. Lists may be late with a
	// change that this server did not write, or does not know it wrote.
	settled time.Time
}

// between returns the states that were possible at some time in an interval.
func (s *story) between(from, to time.Time) []state {
	possible := func(state state) bool {
		return !state.from.After(to) && (state.until.IsZero() || !state.until.Before(from))
	}
	first := slices.IndexFunc(s.states, possible)
	if first < 0 {
		return nil
	}
	end := first + 1
	for end < len(s.states) && possible(s.states[end]) { // they are consecutive
		end++
	}
	return s.states[first:end]
}

// confirm notes that the last write has happened.
func (s *story) confirm() {
	now := time.Now()
	for i := range s.states[:len(s.states)-1] {
		if s.states[i].until.IsZero() {
			s.states[i].until = now
		}
	}
	s.pending = false
}

// refuse notes that the last write did not happen, and never will.
func (s *story) refuse() { s.states = s.states[:len(s.states)-1] }

// now returns the last state.
func (s *story) now() *content { return s.states[len(s.states)-1].content }

// certain reports whether only one state is possible from now on.
func (s *story) certain() bool {
	last := s.states[len(s.states)-1]
	return len(s.between(time.Now(), time.Now())) == 1 && last.until.IsZero()
}

// String tells the history.
func (s *story) String() string {
	var out strings.Builder
	fmt.Fprintf(&out, "comment %q (pending %v, lists settled at %s):", s.id, s.pending, clock(s.settled))
	for _, state := range s.states {
		what := "absent"
		if c := state.content; c != nil {
			what = fmt.Sprintf("%s %s %d stars version %d %q", c.product, c.language, c.rating, c.version, c.text)
		}
		fmt.Fprintf(&out, "\n    from %s until %s: %s", clock(state.from), clock(state.until), what)
	}
	return out.String()
}

func clock(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return t.Format("15:04:05.000")
}

// list is a list of comments.
type list struct {
	product   string
	languages []string
	ratings   []int
	oldest    bool // first
}

// String describes the list.
func (l list) String() string {
	return fmt.Sprintf("%s languages %v ratings %v oldest first %v", l.product, l.languages, l.ratings, l.oldest)
}

func (l list) allows(c *content) bool {
	return c != nil && c.product == l.product &&
		(len(l.languages) == 0 || slices.Contains(l.languages, c.language)) &&
		(len(l.ratings) == 0 || slices.Contains(l.ratings, c.rating))
}

// best returns the list of what a leaderboard counts of a product; language "" is any.
func best(product, language string) list {
	l := list{product: product, ratings: []int{5}}
	if language != "" {
		l.languages = []string{language}
	}
	return l
}

// before reports whether one id comes before another in the list.
func (l list) before(a, b string) bool {
	if l.oldest {
		return a < b
	}
	return a > b
}

// bounds returns the least and the most comments that a list can have had in an interval, counting
// only those that fit.
func (m *model) bounds(l list, from, to time.Time, fits func(*story) bool) (least, most int) {
	for _, s := range m.stories {
		if !fits(s) {
			continue
		}
		states := s.between(from, to)
		if slices.ContainsFunc(states, func(s state) bool { return l.allows(s.content) }) {
			most++
		}
		if len(states) > 0 && !slices.ContainsFunc(states, func(s state) bool { return !l.allows(s.content) }) {
			least++
		}
	}
	return least, most
}

// model is all that the workload knows of the comments. Its user holds the lock of the workload.
type model struct {
	stories []*story
	byText  map[string]*story
}

// write begins a write of a comment.
func (m *model) write(s *story, c *content) {
	s.states = append(s.states, state{content: c, from: time.Now()})
	if c != nil {
		m.byText[c.text] = s
	}
}

// seen notes that an answer that arrived now shows a comment with a text. From then on the comment
// cannot be in an earlier state.
func (s *story) seen(id, text string) {
	if s.id == "" {
		s.id = id // once: its writer reads it without the lock when nothing is pending
	}
	last := s.states[len(s.states)-1]
	if s.pending && last.content != nil && last.content.text == text {
		s.confirm()
		s.settled = time.Now().Add(lateness)
	}
}
