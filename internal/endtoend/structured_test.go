package endtoend

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"
)

// structured is the part of a page's structured data that repeats the page.
type structured struct {
	Context   string `json:"@context"`
	Type      string `json:"@type"`
	Name, URL string
	Aggregate struct {
		RatingValue             float64
		ReviewCount             int
		BestRating, WorstRating int
	} `json:"aggregateRating"`
	Review []struct {
		ReviewBody   string
		Author       struct{ Name string }
		ReviewRating struct{ RatingValue float64 }
	}
}

// The structured data for search engines agrees with the page. Package product checks every page
// against Google's requirements.
func structuredData(t *testing.T, browser context.Context, s *site) {
	b := newTab(t, browser)
	for _, product := range []string{many, hostile, single} {
		b.do(chromedp.Navigate(s.address + "/products/" + product))
		var data structured
		if err := json.Unmarshal([]byte(eval[string](b, `document.querySelector('script[type="application/ld+json"]').textContent`)), &data); err != nil {
			t.Fatalf("%s: %v", product, err)
		}
		shown := eval[[]string](b, `[...`+root+`.querySelectorAll('.list article')].map((shown) => [
			shown.querySelector('.author').textContent, shown.querySelector('.stars').ariaLabel[0], shown.querySelector('.text')?.textContent ?? '',
		].join('|'))`)
		var told []string
		for _, r := range data.Review {
			told = append(told, fmt.Sprintf("%s|%v|%s", r.Author.Name, r.ReviewRating.RatingValue, r.ReviewBody))
		}
		if fmt.Sprint(told) != fmt.Sprint(shown) {
			t.Errorf("%s: search engines are told %.300q, the page shows %.300q", product, told, shown)
		}
		average := eval[string](b, root+`.querySelector('.average .number').textContent`)
		total := eval[string](b, root+`.querySelector('.average .of').textContent`)
		rated := data.Aggregate
		if fmt.Sprintf("%.1f", rated.RatingValue) != average || fmt.Sprintf("%d comment", rated.ReviewCount) != total[:len(fmt.Sprintf("%d comment", rated.ReviewCount))] ||
			rated.BestRating != 5 || rated.WorstRating != 1 {
			t.Errorf("%s: %+v, and the page says %s of %s", product, rated, average, total)
		}
		canonical := eval[string](b, `document.querySelector('link[rel=canonical]').href`)
		if data.Context != "https://schema.org" || data.Type != "Product" || data.Name != product || data.URL != canonical {
			t.Errorf("%s: %+v, canonical %s", product, data, canonical)
		}
	}
	b.quiet()
}
