package web

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/talkback/talkback/internal/commenttest/must"
)

// void are the elements without an end tag.
var void = []string{"img", "input", "link", "meta"}

// wellFormed fails the test unless a page is HTML that a parser takes as it is written: every
// element is closed in its turn, no attribute or id occurs twice, and nothing has to be mended.
func wellFormed(t testing.TB, page []byte) {
	t.Helper()
	written := tagsAndTexts(t, page)
	tree := must.Get(html.Parse(bytes.NewReader(page)))(t)
	var again bytes.Buffer
	must.Do(t, html.Render(&again, tree))
	understood := tagsAndTexts(t, again.Bytes())
	for i := range min(len(written), len(understood)) {
		if written[i] != understood[i] {
			t.Fatalf("the page has %s where a parser sees %s, after %v", written[i], understood[i], written[max(0, i-3):i])
		}
	}
	if len(written) != len(understood) {
		t.Fatalf("the page has %d tokens, a parser sees %d", len(written), len(understood))
	}
}

// tagsAndTexts returns the tags and texts of a page, with checks of what a parser would mend
// silently.
func tagsAndTexts(t testing.TB, page []byte) (all []string) {
	t.Helper()
	var open []string
	ids := map[string]bool{}
	for z := html.NewTokenizer(bytes.NewReader(page)); ; {
		kind := z.Next()
		token := z.Token()
		if kind == html.SelfClosingTagToken { // as a tree is written again
			kind, token.Type = html.StartTagToken, html.StartTagToken
		}
		switch kind {
		case html.ErrorToken:
			if !errors.Is(z.Err(), io.EOF) || len(open) > 0 {
				t.Fatalf("the page ends with %v open: %v", open, z.Err())
			}
			return all
		case html.StartTagToken:
			checkAttributes(t, token, ids)
			if !slices.Contains(void, token.Data) {
				open = append(open, token.Data)
			}
		case html.EndTagToken:
			if len(open) == 0 || open[len(open)-1] != token.Data {
				t.Fatalf("</%s> closes %v", token.Data, open)
			}
			open = open[:len(open)-1]
		}
		// A parser sorts the attributes of some elements.
		slices.SortFunc(token.Attr, func(a, b html.Attribute) int { return strings.Compare(a.Key, b.Key) })
		all = append(all, token.String())
	}
}

func checkAttributes(t testing.TB, tag html.Token, ids map[string]bool) {
	t.Helper()
	seen := map[string]bool{}
	for _, attribute := range tag.Attr {
		if seen[attribute.Key] || attribute.Key == "style" || strings.HasPrefix(attribute.Key, "on") {
			t.Fatalf("%s: attribute %s is there twice, or must not be", tag, attribute.Key)
		}
		seen[attribute.Key] = true
		if attribute.Key == "id" {
			if ids[attribute.Val] {
				t.Fatalf("the id %s is there twice", attribute.Val)
			}
			ids[attribute.Val] = true
		}
	}
}

// node is an element or a text of a page.
type node struct {
	name       string
	attributes map[string]string
	text       string
	children   []node
}

// tree parses a page. Scripts are left out: what they hold is no HTML.
func tree(t testing.TB, page []byte) node {
	t.Helper()
	root := must.Get(html.Parse(bytes.NewReader(page)))(t)
	return convert(root)
}

func convert(n *html.Node) node {
	out := node{name: n.Data, attributes: map[string]string{}}
	if n.Type == html.TextNode {
		return node{name: "#text", text: n.Data}
	}
	for _, attribute := range n.Attr {
		out.attributes[attribute.Key] = attribute.Val
	}
	for child := n.FirstChild; child != nil && n.Data != "script"; child = child.NextSibling {
		out.children = append(out.children, convert(child))
	}
	return out
}

// find returns the nodes for which the condition holds, in the order of the page.
func (n node) find(is func(node) bool) (found []node) {
	if is(n) {
		found = append(found, n)
	}
	for _, child := range n.children {
		found = append(found, child.find(is)...)
	}
	return found
}

// named returns the elements of a name.
func (n node) named(name string) []node {
	return n.find(func(n node) bool { return n.name == name })
}

// content returns all text of a node.
func (n node) content() string {
	text := n.text
	for _, child := range n.children {
		text += child.content()
	}
	return text
}
