package limits

import (
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"
	"github.com/vektah/gqlparser/v2/parser"

	"github.com/talkback/talkback/graph/lookahead"
	"github.com/talkback/talkback/internal/commenttest/must"
)

// Codes returns all codes of refusals, in no particular order.
func Codes() []Code {
	codes := []Code{IntrospectionIsOff, EventReads}
	for code := range texts {
		codes = append(codes, code)
	}
	return codes
}

func TestValidate(t *testing.T) {
	must.Do(t, Default().Validate())
	l := Default()
	l.Tokens = 0
	if err := l.Validate(); err == nil || !strings.Contains(err.Error(), "--max-tokens") {
		t.Errorf("%v, want an error that names the limit", err)
	}
}

// Every limit has a description, and the documents name it and every code.
func TestDocuments(t *testing.T) {
	design := must.Get(os.ReadFile("../../docs/design/limits.md"))(t)
	for _, field := range reflect.VisibleFields(reflect.TypeFor[Limits]()) {
		flag := "`" + flagOf(field.Name) + "`"
		row := regexp.MustCompile(`(?m)^\| ` + flag + ` .*$`).FindString(string(design))
		if field.Tag.Get("help") == "" {
			t.Errorf("%s has no help", flag)
		}
		if !strings.Contains(strings.ReplaceAll(row, ",", ""), "| "+field.Tag.Get("default")+" |") {
			t.Errorf("docs/design/limits.md has no row of %s with its default %s: %q", flag, field.Tag.Get("default"), row)
		}
	}
	for _, code := range Codes() {
		if !strings.Contains(string(design), "`"+string(code)+"`") {
			t.Errorf("docs/design/limits.md does not tell of %s", code)
		}
	}
}

// A kind of field without a weight costs nothing, and its list counts as a hundred elements. Only
// plain fields, texts, cursors and plans may have no weight. Newest comments are priced together
// with the fields beside them.
func TestEveryKindHasAWeight(t *testing.T) {
	for kind := lookahead.Plain; kind <= lookahead.PlanPartitions; kind++ {
		together := kind == lookahead.Latest || kind == lookahead.LatestRated
		free := kind == lookahead.Plain || kind == lookahead.Text || kind == lookahead.Cursor || kind == lookahead.AsOf || kind == lookahead.Plan || together
		if weighed := weights[kind] != nil; weighed == free {
			t.Errorf("kind %d: has a weight is %v, want %v", kind, weighed, !free)
		}
	}
}

func TestShorten(t *testing.T) {
	l := Limits{Errors: 2, ErrorBytes: 5, NameBytes: 3}
	errs := gqlerror.List{
		{Message: "short", Path: ast.Path{ast.PathName("abcdef"), ast.PathIndex(7), ast.PathName("abc")}},
		{Message: "1234é6"}, {Message: "left out"},
	}
	got := l.shorten(errs)
	if len(got) != 3 || got[0].Message != "short" || got[1].Message != "1234…" || got[2].Extensions["code"] != string(TooManyErrors) {
		t.Errorf("%v", got)
	}
	if path := got[0].Path.String(); path != "abc…[7].abc" {
		t.Errorf("the path is %s", path)
	}
	if errs[2].Message != "left out" {
		t.Errorf("the list that was given is changed: %v", errs)
	}
}

// A number beyond 64 bits is refused, whatever type is expected: otherwise, reading it as an
// argument would fail.
func TestNumbersOutOfRange(t *testing.T) {
	for text, refused := range map[string]bool{
		`{a(b: 9223372036854775807)}`: false, `{a(b: 9223372036854775808)}`: true, `{a(b: [{c: -9223372036854775809}])}`: true,
		`{a(b: 1e308)}`: false, `{a(b: 1e309)}`: true, `{a @b(c: 1e309)}`: true, `query($d: T = 1e309) {a}`: true,
	} {
		doc := must.Get(parser.ParseQuery(&ast.Source{Input: text}))(t)
		if err := Default().checkDocument(doc); (err != nil) != refused {
			t.Errorf("%s: %v", text, err)
		}
	}
}
