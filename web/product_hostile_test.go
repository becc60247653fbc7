package web

import (
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// written is every text on a page that customers and shops write, each once.
type written struct{ product, title, text, author, language string }

// answer returns an answer that holds the texts.
func (w written) answer(t testing.TB) []byte {
	t.Helper()
	comment := map[string]any{
		"id": "c_01HZ0000000000000000000000", "rating": 4, "language": w.language, "title": w.title, "text": w.text,
		"author": map[string]any{"customerId": w.author, "name": w.author}, "createdAt": "2024-05-31T23:59:59.999Z", "version": 2,
	}
	ratings := []map[string]any{{"rating": 5, "count": 0}, {"rating": 4, "count": 1}}
	out, err := json.Marshal(map[string]any{"data": map[string]any{"product": map[string]any{
		"id":        w.product,
		"stats":     map[string]any{"total": 2, "average": 4, "ratings": ratings},
		"languages": []map[string]any{{"language": w.language, "count": 1}, {"language": "en", "count": 1}},
		"praise":    comment,
		"list": map[string]any{
			"totalCount": 2, "pageCount": 1, "pageNumber": 1, "nodes": []any{comment}, "pageInfo": map[string]any{"hasNextPage": true},
			"plan": map[string]any{"summary": "product " + w.product},
		},
	}}})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// hostile are texts that try to become more than text.
var hostile = rapid.OneOf(
	rapid.SampledFrom([]string{
		"</script><script>alert(1)</script>", "<!--", "-->", "<![CDATA[", "]]>", "<?php", "</style>", "</template>", "</talkback-comments>",
		"<plaintext>", "<svg onload=alert(1)>", "\" onmouseover=\"alert(1)", "' onfocus='alert(1)", "javascript:alert(1)", "&lt;b&gt;", "&#0;", "&",
		"<b", "< b>", "<\u2028script>", "\u202eoverride", "\u2066isolate\u2069", "{{.}}", "${alert(1)}", "`", "\\u003cscript>", "%3Cscript%3E",
		strings.Repeat("👩‍👩‍👧‍👦", 10_000), strings.Repeat("<", 3000), strings.Repeat("<\n", 7), "\n\n\ttext\n",
	}),
	rapid.StringOf(rapid.RuneFrom([]rune("<>&\"'`/=!-[]{}\\ abc\n\t+%\u2028\u2029\u200f\u202e🎉"))),
	rapid.String(),
)

// asAnswered returns a text as the API can store it: with ? in place of control characters, except
// newline and tab.
func asAnswered(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' && r != '\n' && r != '\t' || r >= 0x7f && r < 0xa0 || r == '\ufffd' {
			return '?'
		}
		return r
	}, text)
}

// Whatever customers write, a page with it has the same elements as one with harmless words. Each
// text is where the word would be, unchanged.
func TestTextIsNeverMarkup(t *testing.T) {
	// Of one line; folded above the list alone; folded there and in the list.
	words := []string{"TEXT", strings.Repeat("TEXT\n", mostOfHighlight) + "TEXT", strings.Repeat("TEXT\n", mostLines) + "TEXT"}
	harmless := make([]node, len(words))
	for i, text := range words {
		w := written{"PRODUCT", "TITLE", text, "AUTHOR", "de"}
		harmless[i] = tree(t, get(t, w.answer(t), 200, "/products/PRODUCT", "en").Body)
	}
	rapid.Check(t, func(rt *rapid.T) {
		draw := func(name string) string {
			text := asAnswered(hostile.Draw(rt, name))
			if strings.TrimSpace(text) == "" || isDots(text) { // ids of dots have other links
				return name
			}
			return text
		}
		w := written{draw("product"), draw("title"), draw("text"), draw("author"), draw("language")}
		folds := 0
		for folds+1 < len(words) && linesOf(w.text) >= linesOf(words[folds+1]) {
			folds++
		}
		address := state{Product: w.product, Page: 1}.address()
		body := get(t, w.answer(t), 200, address, "en").Body
		wellFormed(t, body)
		said := map[string]string{
			"PRODUCT": w.product, "TITLE": w.title, words[folds]: w.text, "AUTHOR": w.author, "/products/PRODUCT": address,
			"https://shop.example/products/PRODUCT": "https://shop.example" + address,
			"PRODUCT: customer comments":            w.product + ": customer comments",
			"Product PRODUCT":                       "Product " + w.product,
			"product PRODUCT":                       "product " + w.product,
			"What customers say about PRODUCT: 2 comments, 4.0 of 5 stars.": "What customers say about " + w.product + ": 2 comments, 4.0 of 5 stars.",
			"de": w.language, "?language=de": state{Product: w.product, Page: 1, Languages: []string{w.language}}.href(),
			"Deutsch": englishTexts.languageName(w.language),
		}
		if err := sameBut(harmless[folds], tree(t, body), said); err != nil {
			rt.Fatalf("%+v: %v", w, err)
		}
	})
}

// sameBut reports where two pages differ, apart from the replaced texts.
func sameBut(want, got node, said map[string]string) error {
	mapped := func(text string) string {
		if other, known := said[text]; known {
			return other
		}
		return text
	}
	wantAttributes := map[string]string{}
	for name, value := range want.attributes {
		wantAttributes[name] = mapped(value)
	}
	if got.name != want.name || !maps.Equal(got.attributes, wantAttributes) || len(got.children) != len(want.children) || got.text != mapped(want.text) {
		return fmt.Errorf("%s %v %q with %d inside, want %s %v %q with %d",
			got.name, got.attributes, got.text, len(got.children), want.name, wantAttributes, mapped(want.text), len(want.children))
	}
	for i := range want.children {
		if err := sameBut(want.children[i], got.children[i], said); err != nil {
			return err
		}
	}
	return nil
}
