package web

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"time"
)

// answer is the API's answer to the operation. Fields that may be null are pointers.
type answer struct {
	Data struct {
		Product *product `json:"product"`
		Viewer  viewer   `json:"viewer"`
	} `json:"data"`
	Errors []apiError `json:"errors"`
}

type product struct {
	ID                       string          `json:"id"`
	Stats                    *stats          `json:"stats"`
	Languages                []languageCount `json:"languages"`
	Matching                 []languageCount `json:"matching"` // of the chosen ratings and traits; nil if none are chosen
	CommentsInOtherLanguages *int            `json:"commentsInOtherLanguages"`
	Praise                   *comment        `json:"praise"`
	Complaint                *comment        `json:"complaint"`
	List                     *list           `json:"list"`
	Facets                   *struct {
		Stats *stats `json:"stats"`
	} `json:"facets"` // the list with any ratings; nil if the list or the product has the same counts
}

type stats struct {
	Total     int           `json:"total"`
	Average   *float64      `json:"average"`
	Verified  *int          `json:"verified"` // this and the next are null for lists with dates
	WithMedia *int          `json:"withMedia"`
	Ratings   []ratingCount `json:"ratings"`
}

type ratingCount struct {
	Rating int `json:"rating"`
	Count  int `json:"count"`
}

type languageCount struct {
	Language string `json:"language"`
	Count    int    `json:"count"`
}

type list struct {
	TotalCount *int   `json:"totalCount"`
	Stats      *stats `json:"stats"`
	PageCount  *int   `json:"pageCount"`
	PageNumber *int   `json:"pageNumber"`
	PageInfo   struct {
		HasNextPage     bool    `json:"hasNextPage"`
		HasPreviousPage bool    `json:"hasPreviousPage"`
		StartCursor     *string `json:"startCursor"`
		EndCursor       *string `json:"endCursor"`
	} `json:"pageInfo"`
	Nodes []comment `json:"nodes"`
	Plan  plan      `json:"plan"`
}

type comment struct {
	ID       string `json:"id"`
	Rating   int    `json:"rating"`
	Language string `json:"language"`
	Title    string `json:"title"`
	Text     string `json:"text"`
	Author   struct {
		CustomerID *string `json:"customerId"`
		Name       string  `json:"name"`
	} `json:"author"`
	CreatedAt time.Time  `json:"createdAt"`
	UpdatedAt *time.Time `json:"updatedAt"`
	Version   int        `json:"version"`
	Verified  bool       `json:"isVerifiedPurchase"`
	Media     []media    `json:"media"`
	Votes     struct {
		Helpful    int `json:"helpful"`
		NotHelpful int `json:"notHelpful"` // of highlights only
	} `json:"votes"`
	Reply *reply `json:"reply"`
}

// media is a picture or a video.
type media struct {
	URL  string `json:"url"`
	Kind string `json:"kind"`
	Alt  string `json:"alt"`
}

// IsVideo reports whether m is a video, not a picture.
func (m media) IsVideo() bool { return m.Kind == "VIDEO" }

// reply is the shop's reply.
type reply struct {
	Text      string     `json:"text"`
	Name      string     `json:"name"`
	CreatedAt time.Time  `json:"createdAt"`
	UpdatedAt *time.Time `json:"updatedAt"`
}

// empty reports whether a product has no comments.
func (p *product) empty() bool { return p.Stats != nil && p.Stats.Total == 0 }

// plan is the part of the plan that the server shows. The element shows all of it.
type plan struct {
	Summary      string  `json:"summary"`
	Waves        int     `json:"waves"`
	ReadUnits    float64 `json:"readUnits"`
	Milliseconds float64 `json:"milliseconds"`
	// Position is the cost of finding the page by its number, which is not in the numbers above.
	Position *struct {
		Waves     int     `json:"waves"`
		ReadUnits float64 `json:"readUnits"`
	} `json:"position"`
}

type apiError struct {
	Path       []any `json:"path"`
	Extensions struct {
		Code string `json:"code"`
	} `json:"extensions"`
}

// parseAnswer reads the answer to a state. A body that is no answer, such as a proxy's page, gives
// neither data nor errors.
func parseAnswer(s state, body []byte) answer {
	var a answer
	if err := json.Unmarshal(body, &a); err != nil {
		return answer{}
	}
	if p := a.Data.Product; p != nil && p.List != nil {
		p.recount(s)
	}
	return a
}

// recount replaces counts that the list contradicts: they follow a write within moments, the list
// does at once. A list that is complete counts itself. Counts that are less than what another one
// shows are left out. The element does the same.
func (p *product) recount(s state) {
	l := p.List
	shown, info := len(l.Nodes), l.PageInfo
	whole := !info.HasNextPage && !info.HasPreviousPage
	if whole {
		l.TotalCount, l.PageCount, l.Stats = &shown, new(min(shown, 1)), statsOf(l.Nodes)
		if s.dated() {
			l.Stats.Verified, l.Stats.WithMedia = nil, nil // as in longer lists
		}
	} else if shown > 0 {
		shown += (s.Page - 1) * pageSize
		if info.HasNextPage {
			shown++
		}
		if l.PageNumber != nil { // of a page behind a cursor, that of the page that it is closest to: it may begin before that one
			shown = max(shown, (*l.PageNumber-1)*pageSize+1)
		}
	}
	if l.TotalCount != nil && *l.TotalCount < shown {
		l.TotalCount, l.PageCount, l.Stats = nil, nil, nil
	}
	if whole && !s.filtered() {
		p.Stats, p.Languages = l.Stats, languageCountsOf(l.Nodes)
	}
	if p.Stats != nil && p.Stats.Total < shown {
		p.Stats = nil
	}
}

// statsOf counts comments.
func statsOf(comments []comment) *stats {
	s, sum, verified, withMedia := &stats{Total: len(comments)}, 0, 0, 0
	for rating := 5; rating >= 1; rating-- {
		s.Ratings = append(s.Ratings, ratingCount{Rating: rating})
	}
	for _, c := range comments {
		sum += c.Rating
		if i := 5 - c.Rating; i >= 0 && i < 5 { // else it was edited by hand
			s.Ratings[i].Count++
		}
		if c.Verified {
			verified++
		}
		if len(c.Media) > 0 {
			withMedia++
		}
	}
	s.Verified, s.WithMedia = &verified, &withMedia
	if len(comments) > 0 {
		s.Average = new(float64(sum) / float64(len(comments)))
	}
	return s
}

// languageCountsOf counts comments by language: the one with most first, among equals by its tag.
func languageCountsOf(comments []comment) []languageCount {
	counts := map[string]int{}
	for _, c := range comments {
		counts[c.Language]++
	}
	var all []languageCount
	for tag, count := range counts {
		all = append(all, languageCount{tag, count})
	}
	slices.SortFunc(all, func(a, b languageCount) int {
		return cmp.Or(b.Count-a.Count, strings.Compare(a.Language, b.Language))
	})
	return all
}

// code returns the code of the error at a path of the answer, else of the first error, empty if
// there is none.
func (a answer) code(path ...any) string {
	for _, err := range a.Errors {
		if slices.Equal(err.Path, path) {
			return err.Extensions.Code
		}
	}
	if len(a.Errors) > 0 {
		return a.Errors[0].Extensions.Code
	}
	return ""
}

// viewer says what the sender of the page's request may do. The request has no token.
type viewer struct {
	CustomerID                          *string
	IsModerator                         bool
	MayWrite                            *bool // nil if the answer does not say
	CannotWriteReason, CannotVoteReason string
}

// refusals are codes of errors that a choice of the visitor causes: other pages may be served.
var refusals = []string{"BAD_INPUT", "BAD_CURSOR", "TOO_COMPLEX", "TOO_COSTLY"}

// refuses reports whether the API cannot understand the arguments of the field at a path.
func (a answer) refuses(path ...any) bool {
	return slices.ContainsFunc(a.Errors, func(err apiError) bool {
		code := err.Extensions.Code
		return slices.Equal(err.Path, path) && (code == "BAD_INPUT" || code == "BAD_CURSOR")
	})
}
