package comment_test

import (
	"net/url"
	"path"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/talkback/talkback/comment"
)

const mediaBase = comment.MediaBase("https://media.example/reviews/")

// drafted returns the media of a draft, or the problems of it.
func drafted(base comment.MediaBase, media ...comment.MediaDraft) ([]comment.Media, []comment.Problem) {
	c, problems := comment.Draft{
		ProductID: "p", Rating: 5, Language: "en", Author: comment.Author{ID: "a", Name: "A"}, Media: media, MediaBase: base,
	}.Comment(comment.Position{})
	return c.Media, problems
}

// No address leads anywhere but below the prefix, however a program reads it.
func TestAddressesOfMedia(t *testing.T) {
	for address, good := range map[string]bool{
		"https://media.example/reviews/kettle.jpg":                           true,
		"https://media.example/reviews/2024/05/a-b_c~d,w=20+30@2x.jpeg":      true,
		"https://media.example/reviews/UPPER.JPG":                            true,
		"https://media.example/reviews/..a/...webp":                          true,
		"https://media.example/reviews/" + strings.Repeat("a", 196) + ".mp4": true,
		"https://media.example/reviews/" + strings.Repeat("a", 197) + ".mp4": false,
		"https://media.example/reviews/":                                     false,
		"https://media.example/reviews/.":                                    false,
		"https://media.example/reviews//kettle.jpg":                          false,
		"https://media.example/reviews/a/./kettle.jpg":                       false,
		"https://media.example/reviews/../kettle.jpg":                        false,
		"https://media.example/reviews/a/../../kettle.jpg":                   false,
		"https://media.example/reviews/%2e%2e/kettle.jpg":                    false,
		"https://media.example/reviews/..%2fkettle.jpg":                      false,
		`https://media.example/reviews/..\kettle.jpg`:                        false,
		"https://media.example/reviews/%252e%252e/kettle.jpg":                false,
		"https://media.example/reviews/kettle.jpg%00.png":                    false,
		"https://media.example/reviews/kettle.svg":                           false,
		"https://media.example/reviews/kettle":                               false,
		"https://media.example/reviews/kettle.html#.jpg":                     false,
		"https://media.example/reviews/kettle.html?.jpg":                     false,
		"https://media.example/reviews/ket\ntle.jpg":                         false,
		"https://media.example/reviews/ket tle.jpg":                          false,
		`https://media.example/reviews/"onerror=alert(1)".jpg`:               false,
		"https://media.example/reviews/k\u00e4nnchen.jpg":                    false,
		"https://media.example/reviews/\u2025/kettle.jpg":                    false,
		"https://media.example/other/kettle.jpg":                             false,
		"https://media.example/reviews.evil/kettle.jpg":                      false,
		"https://MEDIA.example/reviews/kettle.jpg":                           false,
		"http://media.example/reviews/kettle.jpg":                            false,
		"//media.example/reviews/kettle.jpg":                                 false,
		" https://media.example/reviews/kettle.jpg":                          false,
		"https://media.example:444/reviews/kettle.jpg":                       false,
		"https://media.example.evil.example/reviews/kettle.jpg":              false,
		"https://media.example@evil.example/reviews/kettle.jpg":              false,
		"https://user@media.example/reviews/kettle.jpg":                      false,
		"https://evil.example/https://media.example/reviews/kettle.jpg":      false,
		"https://m\u0435dia.example/reviews/kettle.jpg":                      false,
		"javascript:alert(1)//https://media.example/reviews/kettle.jpg":      false,
		"data:image/png;base64,https://media.example/reviews/kettle.png":     false,
		"": false,
	} {
		got, problems := drafted(mediaBase, comment.MediaDraft{URL: address})
		if (problems == nil) != good {
			t.Errorf("%q: %v", address, problems)
		}
		if !good {
			continue
		}
		there := mediaBase.Address(got[0])
		u, err := url.Parse(there)
		if err != nil || there != address || u.String() != address || path.Clean(u.Path) != u.Path {
			t.Errorf("%q became %q: %v", address, there, err)
		}
	}
}

func TestMediaOfDrafts(t *testing.T) {
	const address = "https://media.example/reviews/a.jpg"
	alt := func(text string) *string { return &text }
	side := func(n int) *int { return &n }
	for _, row := range []struct {
		why   string
		draft comment.MediaDraft
		want  comment.Media // none if it is refused
		wrong string        // the field, and the code of its problem
	}{
		{"all of it", comment.MediaDraft{URL: address, Width: side(1), Height: side(20_000), Alt: alt("A kettle")}, comment.Media{Path: "a.jpg", Width: 1, Height: 20_000, Alt: "A kettle"}, ""},
		{"the address alone", comment.MediaDraft{URL: address}, comment.Media{Path: "a.jpg"}, ""},
		{"no text", comment.MediaDraft{URL: address, Alt: alt("")}, comment.Media{Path: "a.jpg"}, ""},
		{"a text that shows nothing", comment.MediaDraft{URL: address, Alt: alt(" \u200b")}, comment.Media{Path: "a.jpg"}, ""},
		{"the longest text", comment.MediaDraft{URL: address, Alt: alt(strings.Repeat("☕", 200))}, comment.Media{Path: "a.jpg", Alt: strings.Repeat("☕", 200)}, ""},
		{"a longer text", comment.MediaDraft{URL: address, Alt: alt(strings.Repeat("a", 201))}, comment.Media{}, "alt TOO_LONG"},
		{"two lines", comment.MediaDraft{URL: address, Alt: alt("a\nb")}, comment.Media{}, "alt MALFORMED"},
		{"a control character", comment.MediaDraft{URL: address, Alt: alt("a\x00")}, comment.Media{}, "alt MALFORMED"},
		{"no UTF-8", comment.MediaDraft{URL: address, Alt: alt("a\xff")}, comment.Media{}, "alt MALFORMED"},
		{"a width alone", comment.MediaDraft{URL: address, Width: side(1)}, comment.Media{}, "width OUT_OF_RANGE"},
		{"no width", comment.MediaDraft{URL: address, Width: side(0), Height: side(1)}, comment.Media{}, "width OUT_OF_RANGE"},
		{"no size", comment.MediaDraft{URL: address, Width: side(0), Height: side(0)}, comment.Media{}, "width OUT_OF_RANGE"},
		{"a negative height", comment.MediaDraft{URL: address, Width: side(1), Height: side(-1)}, comment.Media{}, "width OUT_OF_RANGE"},
		{"a width beyond all", comment.MediaDraft{URL: address, Width: side(20_001), Height: side(1)}, comment.Media{}, "width OUT_OF_RANGE"},
		{"another host", comment.MediaDraft{URL: "https://evil.example/a.jpg", Width: side(0)}, comment.Media{}, "url MALFORMED"},
		{"a long address", comment.MediaDraft{URL: strings.Replace(address, "a.jpg", strings.Repeat("a", 197)+".jpg", 1)}, comment.Media{}, "url TOO_LONG"},
	} {
		got, problems := drafted(mediaBase, row.draft)
		wrong := ""
		for _, p := range problems {
			wrong += strings.Join(p.Path[2:], ".") + " " + string(p.Code)
		}
		if wrong != row.wrong || wrong == "" && !cmp.Equal(got, []comment.Media{row.want}) {
			t.Errorf("%s: %v %v", row.why, got, problems)
		}
	}
	nine := make([]comment.MediaDraft, comment.MaxMedia+1)
	for i := range nine {
		nine[i].URL = address
	}
	if _, problems := drafted(mediaBase, nine...); len(problems) != 1 {
		t.Errorf("nine pictures: %v", problems)
	}
	if got, problems := drafted(mediaBase, nine[1:]...); problems != nil || len(got) != comment.MaxMedia {
		t.Errorf("eight pictures: %v", problems)
	}
	if _, problems := drafted("", nine[0]); len(problems) != 1 || !strings.Contains(problems[0].Message, "--media-base") {
		t.Errorf("without a prefix: %v", problems)
	}
}

func TestParseMediaBase(t *testing.T) {
	for text, want := range map[string]comment.MediaBase{
		"https://media.example":           "https://media.example/",
		"https://media.example/reviews":   mediaBase,
		"https://media.example/reviews/":  mediaBase,
		"http://127.0.0.1:9000/a/b":       "http://127.0.0.1:9000/a/b/",
		"https://media.example/a/../b":    "",
		"https://media.example/a//b":      "",
		"https://media.example/a;img-src": "",
		"https://media.example/%2e%2e":    "",
		"https://media.example/?a":        "",
		"https://media.example/#a":        "",
		"https://user@media.example/":     "",
		"https://Media.example/":          "",
		"https://m\u00e9dia.example/":     "",
		"https://a;script-src/":           "",
		"https://*.example/":              "",
		"HTTPS://media.example/":          "",
		"ftp://media.example/":            "",
		"//media.example/":                "",
		"media.example":                   "",
		"https://":                        "",
		"":                                "",
	} {
		got, err := comment.ParseMediaBase(text)
		if got != want || (err == nil) != (want != "") {
			t.Errorf("%q: %q, %v", text, got, err)
		}
	}
	if got := mediaBase.Origin(); got != "https://media.example" {
		t.Error(got)
	}
}
