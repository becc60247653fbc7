package limits_test

import (
	"slices"
	"strings"
	"testing"
)

const filtered = `query($f:CommentFilter){product(id:"x"){comments(filter:$f){nodes{id}}}}`

// nested returns a value nested in depth lists.
func nested(depth int) any {
	var value any = 1
	for range depth {
		value = []any{value}
	}
	return value
}

// coercing: variables that are many, deep, long or of the wrong type.
func coercing(tb testing.TB) []attack {
	named := map[string]any{}
	for _, name := range strings.Fields(distinct("v%d ", 1000)) {
		named[name] = 1
	}
	lists := map[string]any{"a": slices.Repeat([]any{slices.Repeat([]any{1}, 90)}, 90)}
	ids := `query($ids:[ID!]!){nodes(ids:$ids){id}}`
	return []attack{
		sent(tb, "coercing/many variables sent", "TOO_MANY_VARIABLES", `{__typename}`, named),
		asked(tb, "coercing/many variables declared", "TOO_MANY_VARIABLES", "query("+distinct("$v%d:Int ", 200)+"){__typename}"),
		asked(tb, "coercing/variables unused", invalid, "query("+distinct("$v%d:Int ", 30)+"){__typename}"),
		asked(tb, "coercing/variables of one name", invalid, "query("+repeat("$v:Int ", 30)+"){__typename}"),
		sent(tb, "coercing/deep lists", "VALUE_TOO_DEEP", filtered, map[string]any{"f": nested(1000)}),
		sent(tb, "coercing/a long list", "LIST_TOO_LONG", ids, map[string]any{"ids": slices.Repeat([]any{"x"}, 10_000)}),
		sent(tb, "coercing/lists of lists", "VARIABLES_TOO_LARGE", ids, lists),
		sent(tb, "coercing/a long list for a scalar of ours", "LIST_TOO_LONG", filtered, map[string]any{"f": map[string]any{"createdAfter": slices.Repeat([]any{1}, 10_000)}}),
		sent(tb, "coercing/a list for a scalar of ours", invalid, filtered, map[string]any{"f": map[string]any{"createdAfter": slices.Repeat([]any{1}, 50)}}),
		sent(tb, "coercing/a huge number", invalid, `query($n:Int){product(id:"x"){comments(first:$n){nodes{id}}}}`, map[string]any{"n": 1e300}),
		sent(tb, "coercing/unknown fields of an input", invalid, filtered, map[string]any{"f": map[string]any{repeat("k", 50_000): 1}}),
		sent(tb, "coercing/a null for a condition", invalid, `query($a:Boolean=true){__typename@include(if:$a)}`, map[string]any{"a": nil}),
		sent(tb, "coercing/a null for a fragment's condition", invalid, `query($a:Boolean=true){...F} fragment F on Query{__typename@skip(if:$a)}`, map[string]any{"a": nil}),
		sent(tb, "coercing/a long text for a language", badInput, filtered, map[string]any{"f": map[string]any{"languages": []any{repeat("x-", 20_000)}}}),
		sent(tb, "coercing/a long text for the language of many products", badInput, `query($ids:[ID!]!,$l:Language!){products(ids:$ids){stats(lang:$l){total}}}`,
			map[string]any{"ids": strings.Fields(distinct("p%d ", 100)), "l": "en" + repeat("-t-en", 10_000)}),
		sent(tb, "coercing/a long text for the language of a leaderboard", badInput, `query($l:Language){leaderboard(language:$l){rank}}`, map[string]any{"l": "en" + repeat("-t-en", 10_000)}),
		sent(tb, "coercing/a long text for an enum", invalid, `query($o:CommentOrder){product(id:"x"){comments(order:$o){nodes{id}}}}`, map[string]any{"o": repeat("N", 50_000)}),
		sent(tb, "coercing/a long text for a time", badInput, filtered, map[string]any{"f": map[string]any{"createdAfter": repeat("9", 50_000)}}),
		sent(tb, "coercing/a long cursor", "BAD_CURSOR", `query($c:String){product(id:"x"){comments(after:$c){nodes{id}}}}`, map[string]any{"c": repeat("A", 50_000)}),
		sent(tb, "coercing/a long id", badInput, `query($n:ID!){product(id:$n){id}}`, map[string]any{"n": repeat("\u202e", 10_000)}),
		asked(tb, "coercing/a default that is deep", "VALUE_TOO_DEEP", `query($f:CommentFilter=`+repeat("[", 20)+repeat("]", 20)+"){__typename}"),
	}
}

// literals: values in the text.
func literals(tb testing.TB) []attack {
	comments := func(arguments string) string { return `{product(id:"x"){comments(` + arguments + `){nodes{id}}}}` }
	return []attack{
		asked(tb, "literals/deep lists", "VALUE_TOO_DEEP", comments("filter:{ratings:"+repeat("[", 20)+repeat("]", 20)+"}")),
		asked(tb, "literals/deep objects", "VALUE_TOO_DEEP", comments("filter:"+repeat("{a:", 20)+"1"+repeat("}", 20))),
		asked(tb, "literals/a long list", "LIST_TOO_LONG", comments("filter:{ratings:["+repeat("1 ", 900)+"]}")),
		asked(tb, "literals/a list of wrong values", invalid, comments("filter:{ratings:["+repeat(`"a" `, 100)+"]}")),
		asked(tb, "literals/lists of wrong values", invalid, comments("filter:{ratings:["+repeat("[1 [2 [3 [4]]]]", 60)+"]}")),
		asked(tb, "literals/fields of one name", invalid, comments("filter:{"+repeat("ratings:1 ", 90)+"}")),
		asked(tb, "literals/a number beyond any type", invalid, comments("filter:{createdAfter:99999999999999999999}")),
		asked(tb, "literals/a fraction beyond any type", invalid, comments("filter:{createdAfter:1e999}")),
		asked(tb, "literals/a number beyond 32 bits", invalid, comments("first:4294967296")),
		asked(tb, "literals/a long text for an enum", invalid, comments(`order:"`+repeat("NEWEST", 2000)+`"`)),
		asked(tb, "literals/a condition that is no condition", invalid, `{__typename@include(if:null)}`),
	}
}

// introspecting: repeated queries of the schema.
func introspecting(tb testing.TB) []attack {
	names := repeat("name ", 20)
	return []attack{
		asked(tb, "introspecting/types of fields of types", invalid, "{__schema{types{fields{type{fields{type{fields{type{name}}}}}}}}}"),
		asked(tb, "introspecting/all by aliases", "TOO_MANY_INTROSPECTIONS", "{"+distinct("s%d:__schema{types{fields{type{fields{name}}}}}", 19)+"}"),
		{name: "introspecting/as often as allowed", code: fine, body: envelope(tb, "{"+distinct("s%d:__schema{types{fields{type{fields{name}}}}}", 5)+"}", nil), answerKB: 80, allocKB: 12 << 10},
		{name: "introspecting/aliases of each name", code: fine, body: envelope(tb, "{__schema{types{fields{args{type{name}}type{fields{args{"+distinct("n%d:name ", 22)+"}}}}}}}", nil), answerKB: 64, allocKB: 4 << 10},
		asked(tb, "introspecting/all by aliases, in full", "ANSWER_TOO_LARGE", "{"+distinct("s%d:__schema{types{fields{type{fields{name description isDeprecated deprecationReason type{name kind description}args{name description defaultValue type{name kind description}}}}}}}", 5)+"}"),
		asked(tb, "introspecting/without end", "TOO_DEEP", `{__type(name:"a"){`+repeat("ofType{", 20)+names+repeat("}", 20)+"}}"),
		asked(tb, "introspecting/a type by a long name", fine, `{__type(name:"`+repeat("a", 15_000)+`"){name}}`),
	}
}

// reading: expensive reads.
func reading(tb testing.TB) []attack {
	page := `product(id:"x"){comments(first:100){nodes{id}}}`
	all := `[` + distinct(`"p%d" `, 100) + `]`
	comment := `"c_01HWSAVBG0ZZZZZZZZZZZZZZZZ" `
	return []attack{
		asked(tb, "reading/a page of 100 in 20 aliases", "TOO_COMPLEX", "{"+distinct("a%d:"+page, 20)+"}"),
		asked(tb, "reading/pages of a hundred products", "TOO_COMPLEX", `{products(ids:`+all+`){comments(first:100){nodes{id}}}}`),
		asked(tb, "reading/pages of nodes", "TOO_COMPLEX", `{nodes(ids:`+all+`){...on Product{comments(first:20){nodes{id}}}}}`),
		asked(tb, "reading/pages of the product of each comment", "TOO_COMPLEX", `{product(id:"x"){comments(first:100){nodes{product{comments(first:20){nodes{id}}}}}}}`),
		asked(tb, "reading/through edges too", "TOO_COMPLEX", `{product(id:"x"){comments(first:100){edges{node{product{latestPositive{id} latestNegative{id}}}}}}}`),
		asked(tb, "reading/all ratings of all languages", "TOO_COMPLEX", `{product(id:"x"){`+distinct(`a%d:comments(first:100 filter:{ratings:[1 2 3 4] languages:["de" "en" "fr" "ja" "es" "pt" "it" "zh"]}){nodes{id}}`, 4)+`}}`),
		asked(tb, "reading/the latest of everything", "TOO_COMPLEX", `{products(ids:`+all+`){lastCommentedAt latestPositive{id} latestNegative{id}}}`),
		asked(tb, "reading/pages of entities", "TOO_COMPLEX", `{_entities(representations:[`+repeat(`{__typename:"Product",id:"p"}`, 100)+`]){...on Product{comments(first:20){nodes{id}}}}}`),
		asked(tb, "reading/too many entities", "LIST_TOO_LONG", `{_entities(representations:[`+repeat(`{id:1}`, 101)+`]){...on Product{id}}}`),
		asked(tb, "reading/comments one by one", "TOO_COMPLEX", `{`+distinct("a%d:nodes(ids:["+repeat(comment, 30)+"]){id}", 10)+`}`),
		sent(tb, "reading/sizes from variables", "TOO_COMPLEX", `query($n:Int){`+distinct("a%d:product(id:\"x\"){comments(first:$n){nodes{id}}}", 20)+`}`, map[string]any{"n": 100}),
		sent(tb, "reading/a filter from variables", "TOO_COMPLEX", `query($f:CommentFilter){`+distinct("a%d:product(id:\"x\"){comments(last:100 filter:$f){nodes{id}}}", 5)+`}`,
			map[string]any{"f": map[string]any{"ratings": []any{1, 2, 3}, "languages": []any{"de", "en"}}}),
		asked(tb, "reading/ranges counted over and over", "TOO_COMPLEX", `{product(id:"x"){`+distinct("a%d:comments(first:1 filter:{createdAfter:\"2024-05-01T00:00:00Z\"}){totalCount}", 20)+`}}`),
		asked(tb, "reading/ranges of many products counted", "TOO_COMPLEX", `{products(ids:`+all+`){comments(first:1 filter:{createdBefore:"2024-05-01T00:00:00Z"}){stats{total}}}}`),
		asked(tb, "reading/a range counted for each comment of a page", "TOO_COMPLEX", `{product(id:"x"){comments(first:100){nodes{product{comments(first:1 filter:{createdBefore:"2024-05-01T00:00:00Z"}){totalCount}}}}}}`),
		asked(tb, "reading/leaderboards by the dozen", "TOO_COMPLEX", `{`+distinct("a%d:leaderboard(first:100){product{stats{total}}}", 20)+`}`),
		asked(tb, "reading/statistics of products by the thousand", "TOO_COMPLEX", `{`+distinct("a%d:products(ids:"+all+"){stats{total}}", 5)+`}`),
		{name: "reading/filters of many languages, as many as are served", code: fine, answerKB: 256, allocKB: 64 << 10, body: envelope(tb,
			`query($f:CommentFilter){products(ids:`+all+`){`+distinct(`a%d:comments(first:0 filter:$f){totalCount}`, 1)+`}}`,
			map[string]any{"f": map[string]any{"languages": slices.Repeat([]any{"en" + repeat("-1994", 6)}, 100)}})},
		{name: "reading/one page, as a measure", code: fine, body: envelope(tb, "{"+page+"}", nil), answerKB: 64, allocKB: 4096},
	}
}

// answering: answers that are far larger than the request.
func answering(tb testing.TB) []attack {
	wrong := `[` + repeat(`"" `, 100) + `]`
	texts := `{product(id:"x"){comments(first:100){nodes{` + distinct("t%d:text ", 30) + `}edges{node{` + repeat("text title ", 29) + `}}}}}`
	return []attack{
		asked(tb, "answering/a hundred wrong ids", badInput, `{products(ids:`+wrong+`){id}}`),
		{name: "answering/wrong ids by the thousand", code: badInput, body: envelope(tb, `{`+distinct("a%d:products(ids:["+repeat(`"" `, 90)+`]){id}`, 9)+`}`, nil), allocKB: 4096},
		{name: "answering/each text thirty times", code: fine, body: envelope(tb, texts, nil), answerKB: 512, allocKB: 24 << 10},
		asked(tb, "answering/the product of each comment of each product", "TOO_COMPLEX", `{products(ids:[`+distinct(`"p%d" `, 50)+`]){comments(first:50){nodes{product{id}}}}}`),
		asked(tb, "answering/pages with all fields many times", "ANSWER_TOO_LARGE", `{`+distinct("a%d:product(id:\"x\"){comments(first:100){nodes{...F}b:nodes{...F}c:nodes{...F}d:nodes{...F}edges{node{...F}}}}", 6)+`}
			fragment F on Comment{id rating language title text createdAt updatedAt version author{id customerId name} product{id}}`),
	}
}
