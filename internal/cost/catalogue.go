package cost

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/planner"
	"github.com/talkback/talkback/internal/sample"
)

// class is products with about the same number of comments, and their share of comments and views.
type class struct{ comments, share float64 }

// classes spreads the comments over products by Zipf's law. Each has twice the ranks of the last.
func (w Workload) classes() (all []class) {
	n, h := math.Floor(w.Products), harmonic(w.Products)
	for from := 1.0; from <= n; from *= 2 {
		to := min(2*from-1, n)
		share := (harmonic(to) - harmonic(from-1)) / h
		all = append(all, class{comments: max(1, w.Comments*share/(to-from+1)), share: share})
	}
	return all
}

// harmonic returns 1 + 1/2 + ... + 1/n.
func harmonic(n float64) float64 {
	if n = math.Floor(n); n > 64 {
		return math.Log(n) + 0.57721566490153 + 1/(2*n)
	}
	sum := 0.0
	for r := 1.0; r <= n; r++ {
		sum += 1 / r
	}
	return sum
}

// hottest returns the share of the most popular product.
func (w Workload) hottest() float64 { return cmp.Or(w.Hottest, 1/harmonic(w.Products)) }

// statsOf returns the counts of a product with about that many comments, spread over likely
// languages and ratings. Cells with less than half a comment are empty, except the likeliest one.
func (w Workload) statsOf(comments float64) comment.Stats {
	stats := comment.Stats{}
	weights := 2 - math.Pow(2, 1-math.Floor(w.Languages))
	for i, language := range languages(int(w.Languages)) {
		for r, share := range planner.LikelyRatings() {
			n := math.Round(min(comments, math.MaxInt32) * share / weights / math.Pow(2, float64(i)))
			if i == 0 && r == comment.MaxRating-1 {
				n = max(1, n)
			}
			if n > 0 {
				stats.Add(comment.Cell{Language: language, Rating: r + 1}, int(n))
			}
		}
	}
	return stats
}

// moment is the creation time of example comments. It does not affect the size of items.
var moment = time.Date(2026, 6, 1, 12, 30, 15, 250e6, time.UTC)

const (
	shopName    = "The Coffee Shop"
	productName = "espresso-machine"
	customerID  = "customer-0123456789"
	customer    = "Ada Lovelace"
)

// sentences are the English texts of the sample data, joined. They are made on first use: that
// takes 80 ms, for which every start of the program would wait.
var sentences = sync.OnceValue(func() string {
	var out strings.Builder
	for c := range sample.Comments() {
		if c.Language == "en" && c.Text != "" && out.Len() < comment.MaxTextBytes {
			out.WriteString(c.Text + " ")
		}
	}
	return out.String()
})

// text returns a text of about the given size, from a random place in the sentences.
func text(bytes float64, r *rand.Rand) string {
	all := sentences()
	n := min(int(bytes), len(all))
	from := r.IntN(len(all) - n + 1)
	return strings.ToValidUTF8(all[from:from+n], "")
}

// example returns a comment of the workload's mean size.
func (w Workload) example() comment.Comment {
	r := rand.New(rand.NewPCG(1, 1))
	c := comment.Comment{
		ID: comment.IDOf(comment.FirstAt(moment)), ProductID: productName, Rating: comment.MaxRating, Language: "en", Version: 1,
		Author: comment.Author{ID: customerID, Name: customer}, Text: text(w.TextBytes, r), Status: comment.Approved,
	}
	if w.TitleBytes >= 1 {
		c.Title = new(text(w.TitleBytes, r))
	}
	return c
}

// languages returns n languages, the most frequent first.
func languages(n int) []comment.Language {
	all := []comment.Language{"en", "de", "fr", "es", "it", "nl", "pl", "pt", "sv", "ja"}
	for a := 'a'; len(all) < n; a++ {
		for b := 'a'; b <= 'z' && len(all) < n; b++ {
			if tag := comment.Language(string(a) + string(b)); !slices.Contains(all, tag) {
				all = append(all, tag)
			}
		}
	}
	return all[:n]
}
