package prior

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/dynamo/planner"
	"github.com/talkback/talkback/internal/commenttest"
)

// population is what the products of a made-up shop are like.
type population struct {
	middle, spread float64 // of the logarithm of the number of comments
	ratings        [comment.MaxRating]float64
	alike          float64
	languages      []comment.Language // the first is the most frequent
}

func anyPopulation(r *rand.Rand) population {
	p := population{middle: 5 * r.Float64(), spread: 0.5 + 1.5*r.Float64(), alike: 1 + 29*r.Float64()}
	total := 0.0
	for i := range p.ratings {
		p.ratings[i] = 0.05 + r.Float64()
		total += p.ratings[i]
	}
	for i := range p.ratings {
		p.ratings[i] /= total
	}
	p.languages = []comment.Language{"de", "en", "fr"}[:1+r.IntN(3)]
	return p
}

// product is a product of the shop: how many comments it has, and the shares of the ratings.
func (p population) product(r *rand.Rand) (comments int, shares [comment.MaxRating]float64) {
	comments = 1 + int(math.Exp(p.middle+p.spread*r.NormFloat64()))
	total := 0.0
	for i, share := range p.ratings {
		shares[i] = gamma(r, share*p.alike)
		total += shares[i]
	}
	for i := range shares {
		shares[i] /= total
	}
	return comments, shares
}

// gamma draws from a gamma distribution (Marsaglia and Tsang, 2000).
func gamma(r *rand.Rand, shape float64) float64 {
	if shape < 1 {
		return gamma(r, shape+1) * math.Pow(1-r.Float64(), 1/shape)
	}
	d := shape - 1.0/3
	for {
		x := r.NormFloat64()
		v := math.Pow(1+x/math.Sqrt(9*d), 3)
		if v > 0 && math.Log(1-r.Float64()) < x*x/2+d-d*v+d*math.Log(v) {
			return d * v
		}
	}
}

// draw draws so many comments of a product, by language and rating.
func (p population) draw(r *rand.Rand, comments int, shares [comment.MaxRating]float64) comment.Stats {
	stats := comment.Stats{}
	for range comments {
		rating, at := 0, r.Float64()
		for ; rating < comment.MaxRating-1 && at >= shares[rating]; rating++ {
			at -= shares[rating]
		}
		language := p.languages[int(float64(len(p.languages))*math.Pow(r.Float64(), 2))]
		stats.Add(comment.Cell{Language: language, Rating: 1 + rating}, 1)
	}
	return stats
}

// page is what the newest page of a product shows, of so many comments at most.
func page(stats comment.Stats, comments, size int, ended bool) Seen {
	seen := Seen{Count: min(comments, size), Ended: ended, Ratings: stats.Counts(comment.Filter{}), Languages: map[comment.Language]int{}}
	for language, counts := range stats {
		seen.Languages[language] = counts.Total()
	}
	seen.Sizes[0] = Size{Count: float64(seen.Count), Sum: 300 * float64(seen.Count), Squares: 300 * 350 * float64(seen.Count)}
	return seen
}

// What is learnt from first pages, most of which end before the product does, and from the counts
// of some products, comes to what the products are like.
func TestWhatIsLearntIsWhatProductsAreLike(t *testing.T) {
	r := commenttest.Rand(t)
	for range 10 {
		p := anyPopulation(r)
		l, all := NewLearner(), [planner.SizeClasses]float64{}
		const products = 1000
		for i := range products {
			comments, shares := p.product(r)
			all[planner.SizeClass(comments)]++
			size := []int{10, 20, 50}[r.IntN(3)]
			if product := fmt.Sprint(i); r.IntN(3) == 0 {
				l.Count(product, p.draw(r, min(comments, 200), shares))
			} else {
				l.See(product, page(p.draw(r, min(comments, size), shares), comments, size+1, comments <= size))
			}
		}
		l.publish()
		got, sum, want := l.Prior(), 0.0, 0.0
		for class, share := range got.Products[:planner.SizeClass(192)] {
			sum, want = sum+share, want+all[class]/products
			if math.Abs(sum-want) > 0.12 {
				t.Errorf("%.3f of the products are learnt to be of class %d or below, %.3f are", sum, class, want)
			}
		}
		learnt := l.fresh.Ratings // without the default
		for i, want := range p.ratings {
			blended := (learnt.Votes*want + defaultVotes*planner.DefaultPrior().Ratings[i]) / (learnt.Votes + defaultVotes)
			if math.Abs(got.Ratings[i]-blended) > 1/math.Sqrt(learnt.Votes) {
				t.Errorf("rating %d is learnt to have %.3f of the comments, it has %.3f", i+1, got.Ratings[i], want)
			}
		}
		if alike := learnt.concentration(); math.Abs(1/(1+alike)-1/(1+p.alike)) > 0.08 {
			t.Errorf("products are learnt to be alike by %.1f, they are by %.1f", alike, p.alike)
		}
		checkSane(t, got)
		if got.Learnt != products {
			t.Errorf("learnt from %d products, there were %d", got.Learnt, products)
		}
	}
}

// checkSane checks what a planner relies on.
func checkSane(t interface{ Errorf(string, ...any) }, p *planner.Prior) {
	sums := map[string]float64{}
	add := func(what string, share float64) {
		if !(share >= 0 && share <= 1.000001) {
			t.Errorf("a share of %s is %v", what, share)
		}
		sums[what] += share
	}
	for _, share := range p.Products {
		add("products", share)
	}
	for _, share := range p.Ratings {
		add("ratings", share)
	}
	for _, share := range p.Languages {
		add("languages", share)
	}
	if math.Abs(sums["products"]-1) > 1e-6 || math.Abs(sums["ratings"]-1) > 0.05 || sums["languages"] > 1.000001 {
		t.Errorf("sums of shares are %v", sums)
	}
	for _, alike := range []float64{p.RatingsAlike, p.LanguagesAlike} {
		if !(alike >= leastConcentration && alike <= mostConcentration) {
			t.Errorf("products are alike by %v", alike)
		}
	}
	for _, size := range append([]planner.ItemSize{p.Sizes.Any}, p.Sizes.ByRating[:]...) {
		if !(size.Mean >= leastMean/2 && size.Mean <= 2*mostMean) || !(size.Deviation >= 0 && size.Deviation <= 4*mostMean) {
			t.Errorf("comments have %v bytes", size)
		}
	}
	if len(p.Languages) > mostLanguages || p.OtherLanguage < 0 || p.OtherLanguage > 1 {
		t.Errorf("%d languages are known, another has %v", len(p.Languages), p.OtherLanguage)
	}
}

// One product has one vote: whatever it holds, and however often it is seen, it moves no share by
// more than two votes, and those of numbers of comments by three at most, as classes are coarse and
// hazards multiply. At the start, the planner's default has most votes.
func TestOneOddProductChangesLittle(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l, products := NewLearner(), rapid.IntRange(0, 300).Draw(t, "products")
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		p := anyPopulation(r)
		for i := range products {
			comments, shares := p.product(r)
			seen := page(p.draw(r, min(comments, 20), shares), comments, 20, true)
			seen.Count = comments
			l.See(fmt.Sprint(i), seen)
		}
		l.publish()
		before, votes := l.Prior(), l.fresh
		odd := comment.Stats{}
		for i := range rapid.IntRange(1, 90).Draw(t, "languages") {
			odd[comment.Language(fmt.Sprintf("q%c%c", 'a'+i/26, 'a'+i%26))] = comment.Counts{rapid.IntRange(-10, 1e6).Draw(t, "bad"), 3, 0, 0, 1}
		}
		large := Size{Count: 1000, Sum: 1000 * 300e3, Squares: 1000 * 300e3 * 300e3}
		for range rapid.IntRange(1, 3).Draw(t, "times") {
			l.Count("odd", odd)
			l.See("odd", Seen{Count: 1000, Sizes: Sizes{large, large, {}, {}, {}, large}})
		}
		l.publish()
		after := l.Prior()
		move := func(what string, by, votes, before, after float64) {
			if most := by / (votes + defaultVotes); math.Abs(before-after) > most {
				t.Errorf("%s went from %.4f to %.4f by one of %d products, at most %.4f is wanted", what, before, after, products, most)
			}
		}
		for i, share := range after.Ratings {
			move("a rating", 2, votes.Ratings.Votes, before.Ratings[i], share)
		}
		sumBefore, sumAfter := 0.0, 0.0
		for class := range after.Products {
			sumBefore, sumAfter = sumBefore+before.Products[class], sumAfter+after.Products[class]
			move("a share of products", 3, votes.Products.Products, sumBefore, sumAfter)
		}
		move("the size of comments", 2, votes.Lengths[0].Votes, before.Sizes.Any.Mean/mostMean, after.Sizes.Any.Mean/mostMean)
		checkSane(t, after)
	})
}

// What two servers learn of different products is, added, what one would learn of them all.
func TestTalliesAdd(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		p := anyPopulation(r)
		one, two, both := NewLearner(), NewLearner(), NewLearner()
		for i := range 60 {
			comments, shares := p.product(r)
			stats, server := p.draw(r, min(comments, 300), shares), []*Learner{one, two}[r.IntN(2)]
			for _, l := range []*Learner{server, both} {
				l.Count(fmt.Sprint(i), stats)
			}
		}
		sum := one.fresh.plus(two.fresh).bounded()
		if diff := cmp.Diff(both.fresh, sum, cmpopts.EquateApprox(1e-9, 1e-9), cmpopts.EquateEmpty(), cmp.AllowUnexported(portrait{})); diff != "" {
			t.Errorf("one server learns something else than two (-one +two):\n%s", diff)
		}
	})
}

// Memory is bounded, whatever products pass by.
func TestWhatALearnerHoldsIsBounded(t *testing.T) {
	l := NewLearner()
	for i := range remembered + 1000 {
		product := fmt.Sprintf("product %d", i)
		l.Count(product, comment.Stats{comment.Language(fmt.Sprintf("l%d", i)): {i, 0, 0, 0, 1}})
	}
	if l.told.Len() > remembered || len(l.fresh.Languages.Shares) > mostLanguages || len(l.fresh.Large) > 2*mostLarge || l.fresh.Products.Products > mostVotes {
		t.Errorf("holds %d products, %d languages, %d large products, %v votes", l.told.Len(), len(l.fresh.Languages.Shares), len(l.fresh.Large), l.fresh.Products.Products)
	}
	if hint := l.Hint(fmt.Sprintf("product %d", remembered+999)); !about(hint.Comments, remembered+1000) || hint.Ratings[0] < 250 {
		t.Errorf("the largest product is known as %v", hint)
	}
	if hint := l.Hint("product 300"); hint != (planner.Hint{}) {
		t.Errorf("a product that had to make room is known as %v", hint)
	}
}

// about tells whether a hint says so many comments.
func about(hint, comments float64) bool { return math.Abs(math.Log2(hint/comments)) < 0.6/octave }

// A hint tells about the shares of the frequent languages, also once it was saved and read again.
func TestHintsTellOfLanguages(t *testing.T) {
	l := NewLearner()
	l.Count("p", comment.Stats{"en": {0, 0, 0, 0, 500}, "de": {0, 0, 0, 0, 300}, "fr": {0, 0, 0, 0, 150}, "ja": {0, 0, 0, 0, 50}})
	l.Count("one", comment.Stats{"en": {0, 0, 0, 0, 99}, "de": {0, 0, 0, 0, 1}})
	item, err := encode(l.fresh, stored{})
	if err != nil {
		t.Fatal(err)
	}
	read, err := decode(item)
	if err != nil {
		t.Fatal(err)
	}
	again := NewLearner()
	again.load(read.tally)
	for _, row := range []struct {
		why       string
		product   string
		languages []comment.Language
		want      []float64
	}{
		{"no languages, no shares", "p", nil, nil},
		{"in the order of the filter", "p", []comment.Language{"de", "en", "fr"}, []float64{.28, .55, .18}},
		{"less than the least", "p", []comment.Language{"ja"}, []float64{0.02}},
		{"nearly none beside the one", "one", []comment.Language{"de", "en"}, []float64{rareLanguage, .95}},
		{"a product that is not known", "q", []comment.Language{"en"}, nil},
	} {
		for _, learner := range []*Learner{l, again} {
			var want [planner.HintedLanguages]float64
			copy(want[:], row.want)
			if got := learner.Hint(row.product, row.languages...).Languages; got != want {
				t.Errorf("%s: %v, want %v", row.why, got, want)
			}
		}
	}
}

// Products that are being counted leave hints once they are large, and again whenever they have grown
// by much. They do not vote on how many comments products have.
func TestCountedProductsLeaveHints(t *testing.T) {
	l := NewLearner()
	products := l.Prior().Products
	news := 0
	for _, row := range []struct {
		why      string
		comments int
		known    float64 // by the hint
		news     int     // told beyond what was told before
	}{
		{"too few for a hint", largeFrom - 1, 0, 0},
		{"large, with a vote on mixtures", 40, 40, 2},
		{"a few more", 50, 40, 0},
		{"half an octave more", 60, 60, 1},
		{"many more", 5000, 5000, 1},
		{"half of them deleted", 2500, 2500, 1},
	} {
		l.Counted("p", comment.Stats{"en": {0, 0, 0, 0, row.comments - 10}, "de": {10, 0, 0, 0, 0}})
		if hint := l.Hint("p", "en"); row.known == 0 && hint.Comments > 0 || row.known > 0 && (!about(hint.Comments, row.known) || hint.Languages[0] == 0) {
			t.Errorf("%s: %v, want %v comments", row.why, hint, row.known)
		}
		if l.news != news+row.news {
			t.Errorf("%s: %d told something new, want %d", row.why, l.news-news, row.news)
		}
		news = l.news
	}
	l.publish()
	if diff := cmp.Diff(products, l.Prior().Products, cmpopts.EquateApprox(1e-12, 0)); diff != "" {
		t.Error(diff)
	}
	l.Lead("led", 1000)
	l.Counted("led", comment.Stats{"en": {0, 0, 0, 0, 1600}})
	if hint := l.Hint("led", "en"); hint.Languages[0] == 0 {
		t.Errorf("a leaderboard told of no languages, and counting neither: %v", hint)
	}
}

// A leaderboard tells of the best rating only; counts that are known are better.
func TestLead(t *testing.T) {
	l := NewLearner()
	l.Lead("led", 1000)
	l.Lead("small", 10)
	l.Count("counted", comment.Stats{"en": {500, 0, 0, 0, 1000}})
	l.Lead("counted", 10000)
	shares := planner.DefaultPrior().Ratings
	if hint := l.Hint("led"); !about(hint.Comments, 1000/shares[4]) || math.Abs(hint.Ratings[4]-255*shares[4]) > 2 {
		t.Errorf("a product with 1000 comments of the best rating is known as %v", hint)
	}
	if hint := l.Hint("small"); hint != (planner.Hint{}) {
		t.Errorf("a small product is known as %v", hint)
	}
	if hint := l.Hint("counted"); !about(hint.Comments, 1500) || hint.Ratings[0] != 85 || hint.Ratings[4] != 170 {
		t.Errorf("a product of 1500 comments is known as %v", hint)
	}
	l.Count("led", comment.Stats{"en": {1, 0, 0, 0, 0}})
	if hint := l.Hint("led"); hint != (planner.Hint{}) {
		t.Errorf("a product that has one comment by now is known as %v", hint)
	}
}

// Ids that someone makes up teach nothing.
func TestProductsWithoutCommentsDoNotTeach(t *testing.T) {
	l := NewLearner()
	before := l.Prior()
	for i := range 100 {
		l.See(fmt.Sprint(i), Seen{Count: 0, Ended: true})
		l.Count(fmt.Sprint(-i), comment.Stats{})
	}
	l.publish()
	if diff := cmp.Diff(before, l.Prior(), cmpopts.EquateApprox(1e-12, 0)); diff != "" {
		t.Error(diff)
	}
}

// However many votes an item claims to hold, what servers see outweighs it in time.
func TestForgedVotesFade(t *testing.T) {
	l := NewLearner()
	forged := itemKey()
	forged[attrTally] = layout.Text(`{"products":{"products":1e12,"tested":[1e12],"ended":[1e12]},"ratings":{"votes":1e12,"shares":{"1":1e12},"pairs":1e12,"alike":1e12}}`)
	read, err := decode(forged)
	if err != nil {
		t.Fatal(err)
	}
	l.load(read.tally)
	if p := l.Prior(); p.Ratings[0] < 0.9 || p.Products[0] < 0.9 {
		t.Fatalf("the forged item is not believed at first: %v", p)
	}
	for round := range 3 {
		for i := range mostVotes {
			l.Count(fmt.Sprint(round, "-", i), comment.Stats{"de": {0, 0, 0, 0, 20}})
		}
		news, _ := l.take()
		l.saved(l.stored.plus(news).bounded())
	}
	if p := l.Prior(); p.Ratings[0] > 0.15 || p.Products[0] > 0.15 {
		t.Errorf("after %d products, ratings are %.2f and products %.2f", 3*mostVotes, p.Ratings, p.Products)
	}
}
