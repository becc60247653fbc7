package reviewfile

import (
	"encoding/xml"
	"net/url"
	"strings"
	"time"

	"github.com/talkback/talkback/comment"
)

// googleSchema is the only version that Google takes:
// https://developers.google.com/product-review-feeds/schema
const googleSchema = "2.4"

// GoogleFeed is Google's product review feed: Head, the reviews, Tail. A feed always contains all
// reviews, since Google deletes missing ones.
type GoogleFeed struct {
	// Publisher is the name of the shop, and Favicon the address of its icon, empty for none.
	Publisher, Favicon string
	// ProductURL is the URL of a product's page, with {id} in place of the id.
	ProductURL string
	// MediaBase is the prefix of the addresses of pictures; empty leaves them out.
	MediaBase comment.MediaBase
	// WithoutText is how many comments were left out: Google requires a text.
	WithoutText int
}

// productHole is the placeholder for a product's id in GoogleFeed.ProductURL.
const productHole = "{id}"

// Check returns an error that names the flag that is missing or wrong.
func (f *GoogleFeed) Check() error {
	switch {
	case xmlText(f.Publisher) == "":
		return comment.Errorf(comment.BadInput, "a feed names the shop: give --publisher NAME")
	case f.Favicon != "" && !isWebAddress(f.Favicon):
		return comment.Errorf(comment.BadInput, "--favicon is not an address of printable ASCII, such as https://shop.example/icon.png: give one")
	case !isWebAddress(f.productURL("a")) || !strings.Contains(f.ProductURL, productHole):
		return comment.Errorf(comment.BadInput, "a feed leads to the page of each product: give --product-url in printable ASCII, with %s in place of the id, such as https://shop.example/p/%s", productHole, productHole)
	}
	return nil
}

// isWebAddress reports whether a text is the address of a page, in characters of ASCII without
// spaces.
func isWebAddress(text string) bool {
	u, err := url.Parse(text)
	return err == nil && (u.Scheme == "https" || u.Scheme == "http") && u.Host != "" && strings.IndexFunc(text, func(r rune) bool { return r <= ' ' || r > '~' }) < 0
}

// productURL returns the URL of a product's page. It escapes the id as a path segment, or in the
// query as a value, where & and + must be escaped too.
func (f *GoogleFeed) productURL(id string) string {
	path, query, asks := strings.Cut(f.ProductURL, "?")
	if asks {
		query = "?" + query
	}
	return strings.ReplaceAll(path, productHole, url.PathEscape(id)) + strings.ReplaceAll(query, productHole, url.QueryEscape(id))
}

// Head returns the text before the reviews.
func (f *GoogleFeed) Head() ([]byte, error) {
	publisher, err := xml.Marshal(googlePublisher{Name: xmlText(f.Publisher), Favicon: f.Favicon})
	return append([]byte(xml.Header+`<feed xmlns:vc="http://www.w3.org/2007/XMLSchema-versioning" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" `+
		`xsi:noNamespaceSchemaLocation="http://www.google.com/shopping/reviews/schema/product/`+googleSchema+`/product_reviews.xsd">`+
		"<version>"+googleSchema+"</version>"), append(publisher, "<reviews>\n"...)...), err
}

// Tail returns the text after the reviews.
func (f *GoogleFeed) Tail() []byte { return []byte("</reviews></feed>\n") }

// Append appends the review of a comment, with a line end; nothing for a comment without text.
func (f *GoogleFeed) Append(out []byte, c comment.Comment) ([]byte, error) {
	title, text := "", xmlText(c.Text)
	if c.Title != nil {
		title = xmlText(*c.Title)
	}
	if text == "" {
		title, text = "", title
	}
	if text == "" {
		f.WithoutText++
		return out, nil
	}
	r := googleReview{
		ID: string(c.ID), Written: c.CreatedAt().Format(time.RFC3339), Title: title, Text: text,
		Page: googlePage{"group", f.productURL(c.ProductID)}, Rating: googleRating{1, comment.MaxRating, c.Rating},
		SKU: xmlText(c.ProductID), Product: f.productURL(c.ProductID),
	}
	if base, _, _ := strings.Cut(string(c.Language), "-"); len(base) == 2 { // a feed accepts no other codes
		r.Language = base
	}
	r.Reviewer.Name = xmlText(c.Author.Name)
	if r.Reviewer.Name == "" || c.Author.Imported && c.Author.Name == anonymousName {
		r.Reviewer = googleReviewer{true, anonymousName}
	}
	if c.Verified { // otherwise it is unknown
		r.Verified = "true"
	}
	var images googleImages
	for _, m := range c.Media {
		if m.Kind() == comment.Picture && f.MediaBase != "" {
			images.All = append(images.All, googleImage{f.MediaBase.Address(m)})
		}
	}
	if len(images.All) > 0 { // the element may not be empty
		r.Images = &images
	}
	review, err := xml.Marshal(r)
	return append(append(out, review...), '\n'), err
}

// xmlText returns a text without surrounding space and characters that XML 1.0 cannot contain.
func xmlText(text string) string {
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		switch {
		case r == '\t', r == '\n', r == '\r', r >= ' ' && r <= '\ud7ff', r >= '\ue000' && r <= '\ufffd', r >= 0x10000:
			return r
		}
		return -1
	}, text))
}

type googlePublisher struct {
	XMLName xml.Name `xml:"publisher"`
	Name    string   `xml:"name"`
	Favicon string   `xml:"favicon,omitempty"`
}

// googleReview has its elements in the order of the schema.
type googleReview struct {
	XMLName  xml.Name       `xml:"review"`
	ID       string         `xml:"review_id"`
	Reviewer googleReviewer `xml:"reviewer>name"`
	Verified string         `xml:"is_verified_purchase,omitempty"`
	Written  string         `xml:"review_timestamp"`
	Title    string         `xml:"title,omitempty"`
	Text     string         `xml:"content"`
	Language string         `xml:"review_language,omitempty"`
	Page     googlePage     `xml:"review_url"`
	Images   *googleImages  `xml:"reviewer_images"`
	Rating   googleRating   `xml:"ratings>overall"`
	SKU      string         `xml:"products>product>product_ids>skus>sku"`
	Product  string         `xml:"products>product>product_url"`
}

type googleReviewer struct {
	Anonymous bool   `xml:"is_anonymous,attr,omitempty"`
	Name      string `xml:",chardata"`
}

// googlePage is the page of a review. The type "group" means that it shows several.
type googlePage struct {
	Type string `xml:"type,attr"`
	URL  string `xml:",chardata"`
}

type googleImages struct {
	All []googleImage `xml:"reviewer_image"`
}

type googleImage struct {
	URL string `xml:"url"`
}

type googleRating struct {
	Min   int `xml:"min,attr"`
	Max   int `xml:"max,attr"`
	Stars int `xml:",chardata"`
}
