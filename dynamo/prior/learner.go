package prior

import (
	"strings"
	"sync"
	"sync/atomic"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/planner"
)

// Seen is what was seen of a product.
type Seen struct {
	// Count is how many comments the product has at least, 0 if that is not known. It has no more if
	// Ended.
	Count int
	Ended bool
	// Ratings are the ratings of some of its comments, zero if these were chosen by rating.
	Ratings comment.Counts
	// Languages are the languages of some of its comments, empty if these were chosen by language.
	Languages map[comment.Language]int
	// Sizes are sizes of some of its comments, zero if they were read without texts.
	Sizes Sizes
}

// Learner learns a prior from what is seen of products. It is safe for concurrent use.
type Learner struct {
	current atomic.Pointer[planner.Prior]

	mu   sync.Mutex
	told *simplelru.LRU[string, told]
	// stored is what the table held when it was last read, pending what is being saved, fresh what
	// was learnt since.
	stored, pending, fresh tally
	// news is how many observations are in fresh, taken how many are in pending, behind how many
	// current lacks.
	news, taken, behind int
}

// told is what a product has told, so that it does not vote twice.
type told struct {
	tested    int  // how many tests of survival were made
	ended     bool // it failed the last
	ratings   int  // how many of its comments have voted, at most fullVote
	languages int
	sizes     int
}

const (
	// remembered is how many products a Learner knows to have voted, some 200 bytes each.
	remembered = 10_000
	// productsWorthSaving is how many products must have told something new to be saved.
	productsWorthSaving = 5
)

// NewLearner returns a Learner that has learnt nothing.
func NewLearner() *Learner {
	products, err := simplelru.NewLRU[string, told](remembered, nil)
	if err != nil {
		panic("prior: " + err.Error()) // the size is above 0
	}
	l := &Learner{told: products}
	l.publish()
	return l
}

// Prior returns what was learnt so far, blended with the planner's default. Do not change it.
func (l *Learner) Prior() *planner.Prior { return l.current.Load() }

// NeedsLanguages reports whether the languages of so many comments of a product would tell
// something new. If not, Seen may leave them out.
func (l *Learner) NeedsLanguages(product string, comments int) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	told, _ := l.told.Get(product)
	return told.languages < min(comments, fullVote)
}

// See learns from what was seen of a product. What the product has told before counts once.
func (l *Learner) See(product string, seen Seen) {
	l.mu.Lock()
	defer l.mu.Unlock()
	before, known := l.told.Get(product)
	now := before
	now.count(&l.fresh.Products, seen.Count, seen.Ended)
	if min(seen.Ratings.Total(), fullVote) > now.ratings {
		l.fresh.Ratings.vote(ratingsOf(seen.Ratings), &now.ratings)
	}
	l.fresh.Languages.vote(seen.Languages, &now.languages)
	l.fresh.Lengths.vote(seen.Sizes, &now.sizes)
	if now == before {
		return
	}
	if !known {
		product = strings.Clone(product) // of an answer, whose other strings are not needed
	}
	l.told.Add(product, now)
	l.fresh = l.fresh.bounded()
	l.news++
	if l.behind++; l.behind > l.mayLack() {
		l.publish()
	}
}

// mayLack is how many observations the current prior may lack: a fiftieth of the products that are
// known, or that were counted and told how large their comments are.
func (l *Learner) mayLack() int {
	return max(l.current.Load().Learnt, int(l.fresh.Lengths[0].Votes)) / 50
}

// Count learns from the counts of a product, unless they tell nothing new.
func (l *Learner) Count(product string, stats comment.Stats) {
	if l.knowsCounts(product) {
		l.Counted(product, stats)
		return
	}
	counts := stats.Counts(comment.Filter{})
	seen := Seen{Count: counts.Total(), Ended: true, Ratings: counts}
	if l.NeedsLanguages(product, counts.Total()) {
		seen.Languages = languagesOf(stats)
	}
	l.See(product, seen)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.fresh.Large.note(product, counts, stats.Languages())
}

// Counted notes a hint on a product that is large by its counts, unless there is one that tells about
// the same. It is for products that are being counted: how many comments they have in the end is not
// known, so they vote on mixtures alone.
func (l *Learner) Counted(product string, stats comment.Stats) {
	counts := stats.Counts(comment.Filter{})
	if counts.Total() < largeFrom {
		return
	}
	before := l.hinted(product)
	if before.like(counts.Total()) {
		return
	}
	l.See(product, Seen{Ratings: counts, Languages: languagesOf(stats)})
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.fresh.Large.note(product, counts, stats.Languages()); l.portrait(product) != before {
		l.news++
	}
}

// languagesOf returns the numbers of comments by language. What is no language is left out, such as
// the row that several share: an item with it could not be read again.
func languagesOf(stats comment.Stats) map[comment.Language]int {
	out := make(map[comment.Language]int, len(stats))
	for language, byRating := range stats {
		if comment.IsTag(string(language)) {
			out[language] = byRating.Total()
		}
	}
	return out
}

// hinted is portrait for callers that do not hold the lock.
func (l *Learner) hinted(product string) portrait {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.portrait(product)
}

// knowsCounts reports whether the counts of a product are known.
func (l *Learner) knowsCounts(product string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	told, _ := l.told.Get(product)
	whole := min(told.tested, fullVote)
	return told.ended && told.ratings >= whole && told.languages >= whole
}

// Lead learns from a leaderboard, which tells how many comments of the best rating a product has.
// Those of other ratings are assumed to be as many as the prior says.
func (l *Learner) Lead(product string, best int) {
	shares := l.Prior().Ratings
	var counts comment.Counts
	for i, share := range shares {
		counts[i] = int(float64(best) * share / shares[comment.MaxRating-1])
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.portrait(product) == (portrait{}) {
		l.fresh.Large.note(product, counts, nil)
	}
}

// Hint returns what is known of a product with many comments, for a filter by some languages; the
// zero value for nothing.
func (l *Learner) Hint(product string, languages ...comment.Language) planner.Hint {
	return l.hinted(product).hint(languages)
}

// portrait returns what is known of a product, the zero value for nothing.
func (l *Learner) portrait(product string) portrait {
	hash := hashOf(product)
	for _, t := range []*tally{&l.fresh, &l.pending, &l.stored} {
		if p, known := t.Large[hash]; known {
			return p
		}
	}
	return portrait{}
}

// publish makes the prior of all that was learnt. Hints on large products are no part of it.
func (l *Learner) publish() {
	var all tally
	for _, t := range [...]tally{l.stored, l.pending, l.fresh} {
		t.Large = nil
		all = all.plus(t)
	}
	l.current.Store(all.bounded().prior())
	l.behind = 0
}

// count adds what is new about the number of comments of a product.
func (t *told) count(products *survival, count int, ended bool) {
	tested := count - 1
	if ended {
		tested = count
	}
	if t.ended || tested <= t.tested {
		return
	}
	if t.tested == 0 {
		products.Products++
	}
	products.observe(t.tested, tested, ended)
	t.tested, t.ended = tested, ended
}

// load replaces what the table held.
func (l *Learner) load(stored tally) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.stored = stored
	l.publish()
}

// take returns what was learnt since it was last taken, to be saved, and whether that is worth it.
// Either saved or putBack must follow.
func (l *Learner) take() (news tally, worth bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.news < productsWorthSaving {
		return tally{}, false
	}
	l.pending, l.fresh = l.fresh, tally{}
	l.taken, l.news = l.news, 0
	return l.pending, true
}

// worthSaving reports whether take would return something.
func (l *Learner) worthSaving() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.news >= productsWorthSaving
}

// saved says what the table holds now, with what was taken.
func (l *Learner) saved(merged tally) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.stored, l.pending, l.taken = merged, tally{}, 0
	l.publish()
}

// putBack says that what was taken was not saved.
func (l *Learner) putBack() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.fresh, l.pending = l.pending.plus(l.fresh).bounded(), tally{}
	l.news, l.taken = l.news+l.taken, 0
}

// ratingsOf returns counts by rating.
func ratingsOf(counts comment.Counts) map[int]int {
	out := make(map[int]int, len(counts))
	for i, n := range counts {
		out[i+1] = n
	}
	return out
}
