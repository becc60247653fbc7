package limits_test

import (
	"fmt"
	"strings"
	"testing"
)

// chain returns an operation that spreads the first of a chain of fragments. Each fragment spreads
// the next one several times; spreads is how often.
func chain(length, spreads int, last string) string {
	var b strings.Builder
	b.WriteString("query{...F0}")
	for i := range length {
		fmt.Fprintf(&b, "fragment F%d on Query{%s}", i, repeat(fmt.Sprintf("...F%d ", i+1), spreads))
	}
	fmt.Fprintf(&b, "fragment F%d on Query{%s}", length, last)
	return b.String()
}

// expanding: fragments that expand.
func expanding(tb testing.TB) []attack {
	var all, deep strings.Builder
	for i := range 30 {
		fmt.Fprintf(&all, "fragment F%d on Query{__typename %s}", i, repeat(fmt.Sprintf("...F%d ", (i+1)%30), 5))
		fmt.Fprintf(&deep, "fragment F%d on __Type{ofType{...F%d}}", i, i+1)
	}
	return []attack{
		asked(tb, "expanding/doubling", "TOO_MANY_FIELDS", chain(20, 2, "__typename")),
		asked(tb, "expanding/tenfold", "TOO_MANY_FIELDS", chain(25, 10, "__typename")),
		asked(tb, "expanding/beyond any number", "TOO_MANY_FIELDS", chain(28, 13, "a")),
		asked(tb, "expanding/to nothing", "TOO_MANY_FIELDS", chain(28, 13, "...G")),
		asked(tb, "expanding/a fragment of itself", invalid, "{...F}fragment F on Query{...F}"),
		asked(tb, "expanding/a fragment of itself, unused", invalid, "{__typename}fragment F on Query{a{...F}}"),
		asked(tb, "expanding/a ring", invalid, "{...F0}"+all.String()),
		asked(tb, "expanding/a ring within introspection", invalid, `{__schema{...A ...B}}fragment A on __Schema{types{...B}...B}fragment B on __Schema{types{...A}...A}`),
		asked(tb, "expanding/many fragments", "TOO_MANY_FRAGMENTS", "{__typename}"+repeat("fragment F on Query{a}", 140)),
		asked(tb, "expanding/fragments of one name", invalid, "{...F}"+repeat("fragment F on Query{__typename}", 30)),
		asked(tb, "expanding/unused fragments", "TOO_MANY_FIELDS", strings.Replace(chain(20, 2, "__typename"), "...F0", "__typename", 1)),
		asked(tb, "expanding/depth through fragments", "TOO_DEEP", `{__type(name:"a"){...F0}}`+strings.Replace(deep.String(), "...F30", "name", 1)),
		asked(tb, "expanding/aliases through fragments", "TOO_MANY_ALIASES", `{product(id:"x"){...F ...F ...F ...F}}fragment F on Product{`+distinct("a%d:id ", 10)+"}"),
		asked(tb, "expanding/unknown fragments", invalid, "{"+repeat("...G ", 60)+"}"),
		asked(tb, "expanding/operations that share a fragment", "TOO_MANY_FIELDS", distinct("query q%d{__schema{...F}}", 10)+"fragment F on __Schema{"+repeat("description ", 60)+"}"),
	}
}

// distinct repeats a text with the numbers from 0.
func distinct(format string, n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, format, i)
	}
	return b.String()
}

// tree returns nested fields, with two of the same name in each place.
func tree(depth int) string {
	if depth == 0 {
		return "name"
	}
	inner := tree(depth - 1)
	return "ofType{" + inner + "}ofType{" + inner + "}"
}

// comparing: fields and directives that validation compares with each other.
func comparing(tb testing.TB) []attack {
	wide := func(n int) string { return repeat(`product(id:"x"){id}`, n) }
	conflicts := distinct(`a:product(id:"%d"){id}`, 20)
	return []attack{
		asked(tb, "comparing/one name by the hundred", "SELECTION_TOO_LONG", `{product(id:"x"){`+repeat("id ", 900)+"}}"),
		asked(tb, "comparing/one name with inner fields", "TOO_MANY_ROOT_FIELDS", "{"+wide(60)+"}"),
		asked(tb, "comparing/conflicts", invalid, "{"+conflicts+"}"),
		asked(tb, "comparing/conflicts in fragments", invalid, `{product(id:"x"){...A ...B}}fragment A on Product{`+repeat("a:id ", 10)+"}fragment B on Product{"+repeat("a:lastCommentedAt ", 10)+"}"),
		asked(tb, "comparing/a tree of one name", "TOO_MANY_OVERLAPS", `{__type(name:"Query"){`+tree(6)+"}}"),
		asked(tb, "comparing/a tree within the limit", fine, `{__type(name:"Query"){`+tree(5)+"}}"),
		asked(tb, "comparing/inline fragments of one name", "TOO_MANY_OVERLAPS", `{product(id:"x"){`+repeat("...{"+repeat("id ", 40)+"}", 10)+"}}"),
		asked(tb, "comparing/one field in many fragments", "TOO_MANY_OVERLAPS", `{product(id:"x"){`+distinct("...F%d ", 20)+"}}"+distinct("fragment F%d on Product{id id id id id id}", 20)),
		asked(tb, "comparing/directives in one place", "TOO_MANY_DIRECTIVES", `{product(id:"x")`+repeat("@skip(if:false)", 100)+"{id}}"),
		asked(tb, "comparing/directives that are unknown", invalid, `{product(id:"x")@a @b @c @d @e{id}}`),
		asked(tb, "comparing/directives in many places", invalid, `{product(id:"x"){`+repeat("id@a@b@c@d ", 60)+"}}"),
		asked(tb, "comparing/arguments of one name", invalid, `{product(`+repeat(`id:"x" `, 300)+"){id}}"),
		asked(tb, "comparing/arguments of two fields", invalid, `{product(`+distinct(`a%d:1 `, 150)+"){id}product("+distinct(`a%d:1 `, 150)+"){id}}"),
		asked(tb, "comparing/aliases", "TOO_MANY_ALIASES", `{product(id:"x"){`+distinct("a%d:id ", 50)+"}}"),
		asked(tb, "comparing/root fields", "TOO_MANY_ROOT_FIELDS", "{"+distinct(`a%d:product(id:"x"){id}`, 25)+"}"),
		asked(tb, "comparing/unknown fields", invalid, `{product(id:"x"){`+distinct("unheardOfField%d ", 60)+"}}"),
		asked(tb, "comparing/unknown fields with long names", invalid, `{product(id:"x"){`+repeat(repeat("latestPositive", 9)+" ", 60)+"}}"),
		{ // each name is compared with those of all types, so that the memory grows with the schema
			name: "comparing/unknown types with long names", code: invalid, allocKB: 3 << 10,
			body: envelope(tb, "{__typename}"+distinct("fragment F%d on "+repeat("Comment", 18)+"{a}", 30), nil),
		},
		asked(tb, "comparing/unknown variables", invalid, `{product(id:"x"){`+repeat("id@skip(if:$a) ", 60)+"}}"),
		asked(tb, "comparing/a subscription", invalid, "subscription{a b c}"),
		asked(tb, "comparing/a mutation of nothing", invalid, "mutation{a}"),
	}
}
