package reviewfile_test

import (
	"encoding/xml"
	"html"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/internal/commenttest"
	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/internal/reviewfile"
)

// googleRules are the elements of a feed by
// https://developers.google.com/product-review-feeds/schema: the children of each in order,
// required ones marked by !, repeatable ones by *.
var googleRules = map[string]string{
	"feed": "version! publisher! reviews", "publisher": "name! favicon", "reviews": "review!*",
	"review": "review_id reviewer! is_verified_purchase is_incentivized_review review_timestamp! title content! review_language review_country " +
		"pros cons review_url! reviewer_images ratings! products! is_spam collection_method transaction_id",
	"reviewer": "name! reviewer_id", "reviewer_images": "reviewer_image!*", "reviewer_image": "url!", "ratings": "overall!", "products": "product!*",
	"product": "product_ids product_name product_url!", "product_ids": "gtins mpns skus brands asins", "skus": "sku!*",
}

// googleForms are the formats of the texts of elements. Other elements have any text but an empty
// one.
var googleForms = map[string]string{
	"version": `2\.4`, "is_verified_purchase": "true|false", "review_timestamp": `\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ`, "review_language": "[a-z]{2}",
	"review_url": "https?://[!-~]+", "product_url": "https?://[!-~]+", "url": "https?://[!-~]+", "favicon": "https?://[!-~]+", "overall": "[1-5]",
}

var googleAttributes = map[string]string{"overall": "min=1 max=5", "review_url": "type=group"}

// element is an element of a feed.
type element struct {
	XMLName    xml.Name
	Text       string     `xml:",chardata"`
	Attributes []xml.Attr `xml:",any,attr"`
	Children   []element  `xml:",any"`
}

// check compares an element, and the elements in it, with the rules.
func (e element) check(t *testing.T) {
	t.Helper()
	name := e.XMLName.Local
	rules, isParent := googleRules[name]
	form := googleForms[name]
	if form == "" {
		form = `(?s).*\S.*`
	}
	if !isParent && (len(e.Children) > 0 || !regexp.MustCompile("^(?:"+form+")$").MatchString(e.Text)) {
		t.Errorf("<%s> has the text %q", name, e.Text)
	}
	var attributes []string
	for _, a := range e.Attributes {
		attributes = append(attributes, a.Name.Local+"="+a.Value)
	}
	if want := googleAttributes[name]; want != "" && strings.Join(attributes, " ") != want {
		t.Errorf("<%s> has the attributes %v, want %s", name, attributes, want)
	}
	names := make([]string, len(e.Children))
	for i, child := range e.Children {
		names[i] = child.XMLName.Local
		child.check(t)
	}
	for rule := range strings.FieldsSeq(rules) {
		child := strings.Trim(rule, "!*")
		n := 0
		for len(names) > 0 && names[0] == child {
			names = names[1:]
			n++
		}
		if strings.Contains(rule, "!") && n == 0 || n > 1 && !strings.HasSuffix(rule, "*") {
			t.Errorf("<%s> has %d times <%s>", name, n, child)
		}
	}
	if isParent && len(names) > 0 {
		t.Errorf("<%s> has <%s> where it may not be", name, names[0])
	}
}

// A feed of any comments follows Google's rules: it is well-formed, with all required elements in
// order.
func TestGoogleFeed(t *testing.T) {
	r := commenttest.Rand(t)
	feed := reviewfile.GoogleFeed{Publisher: "Shop & \x01Söhne", Favicon: "https://shop.example/i.png?a&b", ProductURL: "https://shop.example/p/{id}?x=1&y", MediaBase: "https://media.example/"}
	must.Do(t, feed.Check())
	text, err := feed.Head()
	const all = 300
	for range all {
		c := commenttest.Nasty(r, []string{"a/b c", "日本\u2028&<", "x"}[r.IntN(3)])
		c.Text += string(rune(r.IntN(40))) + []string{"", "\ufffe", "\uffff", "]]>", "\x7f"}[r.IntN(5)]
		if err == nil {
			text, err = feed.Append(text, c)
		}
	}
	must.Do(t, err)
	var root element
	must.Do(t, xml.Unmarshal(append(text, feed.Tail()...), &root))
	root.check(t)
	reviews := root.Children[2].Children
	if len(reviews)+feed.WithoutText != all || feed.WithoutText > all/3 {
		t.Errorf("%d reviews, %d without a text", len(reviews), feed.WithoutText)
	}
	ids := map[string]bool{}
	for _, review := range reviews {
		ids[review.Children[0].Text] = true
	}
	if len(ids) != len(reviews) {
		t.Error("two reviews have one id")
	}
}

func TestGoogleReview(t *testing.T) {
	title := "Good"
	c := comment.Comment{
		ID: comment.IDOf(comment.PositionAt(time.Date(2024, 5, 1, 12, 0, 0, 5e6, time.UTC), [10]byte{})), ProductID: "a/b", Rating: 4, Language: "pt-BR", Title: &title, Text: "Hot\r\n& <quick>\x00",
		Author: comment.Author{ID: "anonymous", Name: "Anonymous", Imported: true}, Verified: true,
		Media: []comment.Media{{Path: "a.jpg"}, {Path: "b.mp4"}},
	}
	feed := reviewfile.GoogleFeed{Publisher: "Shop", ProductURL: "https://shop.example/p/{id}", MediaBase: "https://media.example/"}
	const want = `<review><review_id>c_01HWTE5M051G000000000000000</review_id><reviewer><name is_anonymous="true">Anonymous</name></reviewer>` +
		`<is_verified_purchase>true</is_verified_purchase><review_timestamp>2024-05-01T12:00:00Z</review_timestamp><title>Good</title>` +
		`<content>Hot&#xD;&#xA;&amp; &lt;quick&gt;</content><review_language>pt</review_language><review_url type="group">https://shop.example/p/a%2Fb</review_url>` +
		`<reviewer_images><reviewer_image><url>https://media.example/a.jpg</url></reviewer_image></reviewer_images><ratings><overall min="1" max="5">4</overall></ratings>` +
		`<products><product><product_ids><skus><sku>a/b</sku></skus></product_ids><product_url>https://shop.example/p/a%2Fb</product_url></product></products></review>` + "\n"
	got, err := feed.Append(nil, c)
	stripped := regexp.MustCompile("<review_id>[^<]*").ReplaceAllString(string(got), "<review_id>c_01HWTE5M051G000000000000000")
	if err != nil || stripped != want {
		t.Errorf("%v\n%s\nwant\n%s", err, got, want)
	}
	c.Text, c.Title = " \x00", nil
	if got, err := feed.Append(nil, c); err != nil || len(got) > 0 || feed.WithoutText != 1 {
		t.Errorf("without a text: %q %v", got, err)
	}
}

// Whichever part of an address holds the ID, the shop reads the same ID from it.
func TestGoogleFeedLeadsToTheProduct(t *testing.T) {
	for template, read := range map[string]func(*url.URL) string{
		"https://shop.example/p/{id}": func(page *url.URL) string {
			id, _ := url.PathUnescape(strings.TrimPrefix(page.EscapedPath(), "/p/")) // empty if it is not escaped correctly
			return id
		},
		"https://shop.example/p?sku={id}&from=google": func(page *url.URL) string { return page.Query().Get("sku") },
	} {
		for _, id := range []string{"p", "a/b", "a&b=c", "a+b", "a b", "50%", "a?b#c", "Tee;größe"} {
			feed := reviewfile.GoogleFeed{Publisher: "Shop", ProductURL: template}
			review := must.Get(feed.Append(nil, comment.Comment{ID: comment.IDOf(comment.FirstAt(time.Now())), ProductID: id, Rating: 4, Text: "Good."}))(t)
			address := regexp.MustCompile("<product_url>(.*)</product_url>").FindStringSubmatch(string(review))[1]
			page, err := url.Parse(html.UnescapeString(address))
			if err != nil || read(page) != id {
				t.Errorf("%s leads to another product than %q: %v", address, id, err)
			}
		}
	}
}

// Values that the service does not know come from flags, and the error names the missing one.
func TestGoogleFeedsNeedFlags(t *testing.T) {
	for _, row := range []struct{ publisher, product, favicon, names string }{
		{"", "https://shop.example/{id}", "", "--publisher"},
		{" \x01", "https://shop.example/{id}", "", "--publisher"},
		{"Shop", "", "", "--product-url"},
		{"Shop", "https://shop.example/", "", "--product-url"},
		{"Shop", "/p/{id}", "", "--product-url"},
		{"Shop", "ftp://shop.example/{id}", "", "--product-url"},
		{"Shop", "https://shop.example/größe/{id}", "", "--product-url"},
		{"Shop", "https://shop.example/a b/{id}", "", "--product-url"},
		{"Shop", "https://{id}", "/icon.png", "--favicon"},
		{"Shop", "https://{id}", "https://shop.example/icon.png", ""},
	} {
		feed := reviewfile.GoogleFeed{Publisher: row.publisher, ProductURL: row.product, Favicon: row.favicon}
		err := feed.Check()
		if (err == nil) != (row.names == "") || err != nil && !strings.Contains(err.Error(), row.names) {
			t.Errorf("%+v: %v", row, err)
		}
	}
}
