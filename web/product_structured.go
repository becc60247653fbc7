package web

import (
	"cmp"
	"encoding/json"
	"time"
)

// structured is the page for search engines, as https://schema.org has it and
// https://developers.google.com/search/docs/appearance/structured-data/review-snippet asks for it.
type structured struct {
	Context   string           `json:"@context"`
	Type      string           `json:"@type"`
	Name      string           `json:"name"`
	Image     string           `json:"image,omitempty"`
	URL       string           `json:"url"`
	Aggregate *aggregateRating `json:"aggregateRating,omitempty"`
	Reviews   []review         `json:"review,omitempty"`
}

type aggregateRating struct {
	Type string `json:"@type"`
	scale
	RatingCount int `json:"ratingCount"` // not all have a text, as reviews do
}

type review struct {
	Type      string       `json:"@type"`
	Author    agent        `json:"author"`
	Rating    reviewRating `json:"reviewRating"`
	Published string       `json:"datePublished"`
	Language  string       `json:"inLanguage,omitempty"`
	Name      string       `json:"name,omitempty"`
	Body      string       `json:"reviewBody,omitempty"`
	Images    []string     `json:"image,omitempty"`
	Reply     *reviewReply `json:"comment,omitempty"`
}

// reviewReply is the shop's reply to a review: https://schema.org/Comment.
type reviewReply struct {
	Type      string `json:"@type"`
	Author    agent  `json:"author"`
	Published string `json:"datePublished"`
	Text      string `json:"text"`
}

// agent is a person or an organization.
type agent struct {
	Type string `json:"@type"`
	Name string `json:"name"`
}

type reviewRating struct {
	Type string `json:"@type"`
	scale
}

// scale is a rating and its bounds.
type scale struct {
	Value float64 `json:"ratingValue"`
	Best  int     `json:"bestRating"`
	Worst int     `json:"worstRating"`
}

func stars(value float64) scale { return scale{value, 5, 1} }

// structuredData describes a product and the comments that its page shows, as JSON that can stand
// in a script element. A product without a name has its id instead. The result is nil if there is
// nothing to say: a product without ratings must not claim any.
func structuredData(p *product, named Product, url string) []byte {
	if p == nil || p.Stats == nil || p.Stats.Average == nil {
		return nil
	}
	s := structured{
		Context: "https://schema.org", Type: "Product", Name: cmp.Or(named.Name, p.ID), Image: named.Image, URL: url,
		Aggregate: &aggregateRating{"AggregateRating", stars(float64(tenths(*p.Stats.Average)) / 10), p.Stats.Total},
	}
	if p.List != nil {
		s.Reviews = reviews(p.List.Nodes)
	}
	return mustHave(json.Marshal(s)) // which escapes <, > and &
}

// reviews describes comments. It leaves out comments without an author's name, which a review
// needs.
func reviews(comments []comment) []review {
	var all []review
	for _, c := range comments {
		if c.Author.Name == "" {
			continue
		}
		r := review{
			Type: "Review", Author: agent{"Person", c.Author.Name}, Rating: reviewRating{"Rating", stars(float64(c.Rating))},
			Published: c.CreatedAt.UTC().Format(time.DateOnly), Language: c.Language, Body: c.Text, Name: c.Title,
		}
		for _, m := range c.Media {
			if !m.IsVideo() {
				r.Images = append(r.Images, m.URL)
			}
		}
		if c.Reply != nil {
			r.Reply = &reviewReply{"Comment", agent{"Organization", c.Reply.Name}, c.Reply.CreatedAt.UTC().Format(time.DateOnly), c.Reply.Text}
		}
		all = append(all, r)
	}
	return all
}
