package limits_test

import "testing"

// lexing: texts that cost much before they are parsed.
func lexing(tb testing.TB) []attack {
	return []attack{
		asked(tb, "lexing/long text", "QUERY_TOO_LONG", "{product(id:\"x\"){id}}"+repeat(" ", 60_000)),
		asked(tb, "lexing/many tokens", "TOO_MANY_TOKENS", "{"+repeat("a ", 8000)+"}"),
		asked(tb, "lexing/many comments", "TOO_MANY_TOKENS", repeat("#\n", 8000)+"{__typename}"),
		asked(tb, "lexing/one long comment", fine, "#"+repeat("x", 16_000)+"\n{__typename}"),
		asked(tb, "lexing/punctuation alone", "TOO_MANY_TOKENS", repeat("!", 16_000)),
		asked(tb, "lexing/a long name", "NAME_TOO_LONG", "{"+repeat("n", 16_000)+"}"),
		asked(tb, "lexing/a long alias on a page", "NAME_TOO_LONG", `{product(id:"x"){comments(first:100){nodes{`+repeat("n", 10_000)+`:id}}}}`),
		asked(tb, "lexing/a string without end", unparsed, `{product(id:"`+repeat("x", 16_000)),
		asked(tb, "lexing/a block string without end", unparsed, `{product(id:"""`+repeat("x\\\n", 5000)),
		asked(tb, "lexing/a block string of quotes", unparsed, `{product(id:"""`+repeat(`""x`, 5000)),
		asked(tb, "lexing/a block string of empty lines", badInput, `{product(id:"""`+repeat("\n", 16_000)+`"""){id}}`),
		asked(tb, "lexing/a block string of indented lines", badInput, `{product(id:"""`+repeat("\n    x", 2600)+`"""){id}}`),
		asked(tb, "lexing/block strings by the hundred", "TOO_MANY_TOKENS", "{"+repeat(`"""""" `, 2000)+"}"),
		asked(tb, "lexing/escapes", badInput, `{product(id:"`+repeat(`\u0041`, 2600)+`"){id}}`),
		asked(tb, "lexing/half an escape", unparsed, `{product(id:"\u00`),
		asked(tb, "lexing/escaped surrogates alone", "BAD_REQUEST", `{product(id:"`+repeat(`\uD800`, 2600)+`"){id}}`),
		asked(tb, "lexing/characters that no one sees", unparsed, "{"+repeat("\u200b", 5000)+"}"),
		asked(tb, "lexing/byte order marks", fine, repeat("\ufeff", 5000)+"{__typename}"),
		asked(tb, "lexing/nul bytes", unparsed, repeat("\x00", 9000)),
		asked(tb, "lexing/a number of many digits", invalid, `{product(id:`+repeat("9", 16_000)+`){id}}`),
		asked(tb, "lexing/a fraction of many digits", invalid, `{product(id:"x"){comments(first:0.`+repeat("9", 16_000)+`){nodes{id}}}}`),
		asked(tb, "lexing/right to left", unparsed, "{"+repeat("\u202e", 5000)+"product}"),
		asked(tb, "lexing/carriage returns", fine, repeat("\r\n\r", 5000)+"{__typename}"),
	}
}

// parsing: the parser recurses for each bracket.
func parsing(tb testing.TB) []attack {
	return []attack{
		asked(tb, "parsing/braces", "TOO_MANY_TOKENS", repeat("{a", 5000)),
		asked(tb, "parsing/braces within the tokens", "NESTED_TOO_DEEP", repeat("{a", 490)),
		asked(tb, "parsing/closed braces", "NESTED_TOO_DEEP", repeat("{a", 300)+repeat("}", 300)),
		asked(tb, "parsing/lists", "NESTED_TOO_DEEP", `{a(b:`+repeat("[", 900)),
		asked(tb, "parsing/objects", "NESTED_TOO_DEEP", `{a(b:`+repeat("{c:", 300)),
		asked(tb, "parsing/types of lists", "NESTED_TOO_DEEP", `query($a:`+repeat("[", 400)+"Int"+repeat("]", 400)+"){__typename}"),
		asked(tb, "parsing/brackets that do not match", unparsed, repeat("{(}", 30)),
		asked(tb, "parsing/closing first", unparsed, repeat("}", 400)+repeat("{a", 200)),
		asked(tb, "parsing/inline fragments", "NESTED_TOO_DEEP", "{"+repeat("...{", 400)+"a"),
		asked(tb, "parsing/fields as deep as brackets allow", "TOO_DEEP", repeat("{a", 31)+repeat("}", 31)),
		asked(tb, "parsing/nothing", invalid, ""),
		asked(tb, "parsing/comments alone", invalid, "# nothing\n"),
		asked(tb, "parsing/operations", "TOO_MANY_OPERATIONS", repeat("query{a}", 200)),
		asked(tb, "parsing/operations of one name", invalid, repeat("query q{__typename}", 10)),
		asked(tb, "parsing/definitions of types", unparsed, repeat("type T{a:Int}", 100)),
	}
}

// decoding: bodies that are no request. The transport decides how to refuse them; here any refusal
// will do.
func decoding(testing.TB) []attack {
	body := func(name, text string) attack {
		return attack{name: "decoding/" + name, code: otherwise, body: []byte(text), allocKB: 6 << 10}
	}
	return []attack{
		body("nothing", ""),
		body("no object", `[1, 2]`),
		body("brackets", repeat("[", 60_000)),
		body("brackets in variables", `{"query":"{__typename}","variables":{"a":`+repeat("[", 9000)+repeat("]", 9000)+`}}`),
		body("objects in variables", `{"query":"{__typename}","variables":`+repeat(`{"a":`, 9000)+"1"+repeat("}", 9000)+`}`),
		body("variables that are a list", `{"query":"{__typename}","variables":[`+repeat("1,", 20_000)+`1]}`),
		body("a query that is a number", `{"query":`+repeat("1", 60_000)+`}`),
		body("one key many times", `{`+repeat(`"query":"{a}",`, 4000)+`"query":"{__typename}"}`),
		body("a long name of an operation", `{"query":"{__typename}","operationName":"`+repeat("n", 60_000)+`"}`),
		body("extensions", `{"query":"{__typename}","extensions":{"a":[`+repeat("1,", 25_000)+`1]}}`),
		body("no end", `{"query":"{__typename}`+repeat("x", 60_000)),
		body("no text", "{\"query\":\"\xff\xfe\"}"),
	}
}
