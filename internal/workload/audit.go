package workload

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
)

// pageOf returns the size of the pages in which an audit reads a list: some dozen pages, or small
// ones.
func pageOf(want []*content) int { return min(max(7, len(want)/12), 100) }

// Audit recounts everything, once the trouble is over and Run has returned. It reads every list
// under many filters by cursor and by number, every count and the leaderboards. It waits until
// everything is counted, or the context ends, and returns the violations of the audit and of Run.
func (w *Workload) Audit(ctx context.Context) error {
	return w.until(ctx, func() (string, error) {
		return w.compare(ctx, w.lists(), w.auditCounts, w.auditNumbers, w.auditWalk)
	})
}

// Recount is a shorter Audit between two Runs: it checks all counts, and one page of each kind.
func (w *Workload) Recount(ctx context.Context) error {
	return w.until(ctx, func() (string, error) {
		rare := list{product: w.products[1], ratings: []int{1}, languages: languages[:1]}
		if wrong, err := w.compare(ctx, []list{rare}, w.auditNumbers, w.auditWalk); wrong != "" || err != nil {
			return wrong, err
		}
		return w.compare(ctx, w.lists(), w.auditCounts)
	})
}

// until repeats a check until nothing is wrong.
func (w *Workload) until(ctx context.Context, look func() (string, error)) error {
	for {
		wrong, err := look()
		if err == nil && wrong == "" {
			return w.Err()
		}
		if ctx.Err() != nil {
			return fmt.Errorf("all is over, and still: %s %v\n%v", wrong, err, w.Err())
		}
		rest(ctx, again)
	}
}

// look compares a list with the expected one. It returns the first difference, or an error of the
// server.
type look func(ctx context.Context, l list, want []*content) (wrong string, err error)

// compare checks lists in several ways, and the leaderboards.
func (w *Workload) compare(ctx context.Context, lists []list, looks ...look) (wrong string, err error) {
	for _, product := range w.products {
		if err := w.resolve(ctx, product); err != nil {
			return "", err
		}
	}
	for _, l := range lists {
		for _, look := range looks {
			if wrong, err := look(ctx, l, w.expected(l)); wrong != "" || err != nil {
				return wrong, err
			}
		}
	}
	return w.auditLeaders(ctx)
}

// lists returns the lists to check: each rating and language alone, together, and all.
func (w *Workload) lists() (out []list) {
	for i, product := range w.products {
		out = append(out, list{product: product}, list{product: product, oldest: true, ratings: []int{1, 5}})
		for rating := 1; rating <= 5; rating++ {
			language := languages[(rating+i)%len(languages)]
			out = append(out, list{product: product, ratings: []int{rating}}, list{product: product, ratings: []int{rating}, languages: []string{language}})
		}
		for _, language := range languages {
			out = append(out, list{product: product, languages: []string{language}})
		}
	}
	return out
}

// resolve reads all comments of a product to decide what became of each write whose outcome is
// unknown. It checks the answers as any reader does.
func (w *Workload) resolve(ctx context.Context, product string) error {
	got, err := w.walk(ctx, list{product: product}, 100, math.MaxInt)
	if err != nil {
		return err
	}
	there := map[string]bool{}
	for _, s := range got {
		there[s.Text] = true
	}
	w.locked(func() {
		for _, s := range w.model.stories {
			if last := s.now(); s.pending && last != nil && last.product == product && !there[last.text] {
				s.refuse() // nothing is under way any more
				s.pending = false
			}
		}
	})
	return nil
}

// expected returns the comments that a list consists of now, in its order.
func (w *Workload) expected(l list) []*content {
	w.mu.Lock()
	defer w.mu.Unlock()
	var stories []*story
	for _, s := range w.model.stories {
		if l.allows(s.now()) {
			stories = append(stories, s)
		}
	}
	slices.SortFunc(stories, func(a, b *story) int {
		if l.oldest {
			a, b = b, a
		}
		return strings.Compare(b.id, a.id)
	})
	out := make([]*content, len(stories))
	for i, s := range stories {
		out[i] = s.now()
	}
	return out
}

func (w *Workload) auditWalk(ctx context.Context, l list, want []*content) (wrong string, err error) {
	got, err := w.walk(ctx, l, pageOf(want), math.MaxInt)
	return differ(l, "by cursor", got, want), err
}

// auditNumbers reads all pages of a list by their numbers, and one beyond the last.
func (w *Workload) auditNumbers(ctx context.Context, l list, want []*content) (wrong string, err error) {
	var got []shown
	variables := l.variables(pageOf(want))
	for number := 1; number <= len(want)/pageOf(want)+2; number++ {
		variables["page"] = number
		p, _, err := w.page(ctx, byPage, variables)
		if err != nil {
			return "", err
		}
		for _, e := range p.Edges {
			got = append(got, e.Node)
		}
	}
	return differ(l, "by number", got, want), nil
}

// differ returns the first difference between a list and the expected one.
func differ(l list, how string, got []shown, want []*content) string {
	for i := range max(len(got), len(want)) {
		is, should := "nothing", "nothing"
		if i < len(got) {
			is = fmt.Sprint(*got[i].content())
		}
		if i < len(want) {
			should = fmt.Sprint(*want[i])
		}
		if is != should {
			return fmt.Sprintf("%s read %s has at place %d %s, want %s; %d comments, want %d", l, how, i, is, should, len(got), len(want))
		}
	}
	return ""
}

func (w *Workload) auditCounts(ctx context.Context, l list, want []*content) (wrong string, err error) {
	got, _, err := w.page(ctx, countList, l.variables(0))
	if err != nil {
		return "", err
	}
	if got.TotalCount != len(want) || got.Stats.Total != len(want) {
		return fmt.Sprintf("%s has %d comments, and %d are counted", l, len(want), got.TotalCount), nil
	}
	for _, row := range got.Stats.Ratings {
		count := 0
		for _, c := range want {
			if c.rating == row.Rating {
				count++
			}
		}
		if row.Count != count {
			return fmt.Sprintf("%s has %d comments with %d stars, and %d are counted", l, count, row.Rating, row.Count), nil
		}
	}
	return "", nil
}

func (w *Workload) auditLeaders(ctx context.Context) (wrong string, err error) {
	for _, language := range append([]string{""}, languages...) {
		leaders, at, err := w.leaderboard(ctx, language)
		if err != nil {
			return "", err
		}
		counts := map[string]int{}
		for _, entry := range leaders {
			counts[entry.Product.ID] = entry.Count
		}
		for _, product := range w.products {
			if want := len(w.expected(best(product, language))); counts[product] != want && len(leaders) < 100 {
				return fmt.Sprintf("the leaderboard of %q has %s with %d at %s, want %d", language, product, counts[product], clock(at.came), want), nil
			}
		}
	}
	return "", nil
}
