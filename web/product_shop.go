package web

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"mime"
	"net/url"
	"slices"
	"strings"
	"unicode"

	parser "golang.org/x/net/html"

	"github.com/talkback/talkback/internal/fetch"
)

const (
	maxName  = 150   // characters; titles of pages are cut at some 60
	maxImage = 2_000 // bytes of an address
)

// Product is the shop's data about a product, cleaned: it comes from a page that others write.
type Product struct {
	// Name is one line without control characters; empty if it is not known.
	Name string
	// Image is the address of a picture; empty if none is known.
	Image string
}

var errNameless = errors.New("the answer of the address holds no product with a name")

// readProduct finds the product in an answer.
func readProduct(answer fetch.Answer) (Product, error) {
	kind, _, _ := mime.ParseMediaType(answer.ContentType)
	var found map[string]any
	switch {
	case kind == "text/html" || kind == "application/xhtml+xml":
		found = productOfPage(answer.Body)
	case kind == "application/json" || strings.HasSuffix(kind, "+json"):
		found = productOfJSON(answer.Body, false)
	default:
		return Product{}, fmt.Errorf("the answer is of the type %.50q, neither JSON nor HTML", kind)
	}
	name, _ := found["name"].(string)
	p := Product{cleaned(name), imageOf(found["image"], answer.Address)}
	if p.Name == "" {
		return Product{}, errNameless
	}
	return p, nil
}

// productOfPage finds the first product in the JSON-LD of a page, nil if there is none.
func productOfPage(page []byte) map[string]any {
	data := false // within a script of JSON-LD
	for z := parser.NewTokenizer(bytes.NewReader(page)); ; {
		switch z.Next() {
		case parser.ErrorToken:
			return nil
		case parser.StartTagToken:
			tag := z.Token()
			data = tag.Data == "script" && slices.ContainsFunc(tag.Attr, func(a parser.Attribute) bool {
				return a.Key == "type" && strings.EqualFold(strings.TrimSpace(a.Val), "application/ld+json")
			})
		case parser.TextToken:
			if data {
				if found := productOfJSON(z.Text(), true); found != nil {
					return found
				}
			}
		}
	}
}

func productOfJSON(text []byte, typed bool) map[string]any {
	var value any
	if json.Unmarshal(text, &value) != nil {
		return nil
	}
	return productIn(value, typed)
}

// productIn finds the first product in JSON-LD. An object without a type counts as one, unless
// typed is set.
func productIn(value any, typed bool) map[string]any {
	switch value := value.(type) {
	case []any:
		for _, item := range value {
			if found := productIn(item, typed); found != nil {
				return found
			}
		}
	case map[string]any:
		if isProduct(value["@type"]) {
			return value
		}
		for _, key := range []string{"@graph", "mainEntity"} {
			if found := productIn(value[key], true); found != nil {
				return found
			}
		}
		if value["@type"] == nil && !typed {
			return value
		}
	}
	return nil
}

// isProduct reports whether a type, or one of several, is schema.org's Product or a kind of it.
func isProduct(kind any) bool {
	switch kind := kind.(type) {
	case string:
		return slices.Contains([]string{"Product", "ProductGroup", "IndividualProduct", "ProductModel", "Vehicle"}, kind[strings.LastIndexAny(kind, "/:")+1:])
	case []any:
		return slices.ContainsFunc(kind, isProduct)
	}
	return false
}

// cleaned returns a text as one line of bounded length. It removes characters that control a
// terminal or change the direction of text. It decodes entities, which many shops write into
// JSON-LD, too.
func cleaned(text string) string {
	text = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case unicode.IsControl(r), unicode.Is(unicode.Bidi_Control, r), r == unicode.ReplacementChar:
			return -1
		}
		return r
	}, html.UnescapeString(text))
	text = strings.Clone(strings.Join(strings.Fields(text), " ")) // else one word keeps all of the text in memory
	if runes := []rune(text); len(runes) > maxName {
		return strings.TrimSpace(string(runes[:maxName-1])) + "…"
	}
	return text
}

// imageOf returns the address of the first picture of a product, resolved against from.
func imageOf(value any, from *url.URL) string {
	switch value := value.(type) {
	case []any:
		if len(value) > 0 {
			return imageOf(value[0], from)
		}
	case map[string]any:
		return imageOf(value["url"], from)
	case string:
		at, err := from.Parse(value)
		if err == nil && (at.Scheme == "https" || at.Scheme == "http") && at.Host != "" && at.User == nil && len(at.String()) <= maxImage {
			return at.String()
		}
	}
	return ""
}
