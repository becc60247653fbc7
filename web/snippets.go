package web

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strings"
)

// snippet is the query of the page in the words of one client.
type snippet struct {
	Key, Name string // for the page's own use, and for readers
	Text      string
	Label     string // of the text, for readers who hear it
}

// snippets returns the query for each client. The address is that of the server.
func snippets(address, product string) []snippet {
	query := strings.TrimSpace(showcase)
	variables := encoded(map[string]string{"id": product})
	indented := "    " + strings.ReplaceAll(query, "\n", "\n    ")
	values := strings.NewReplacer("ADDRESS", address, "QUERY", query, "VARIABLES", variables, "INDENTED", indented)
	return []snippet{
		{"graphql", "GraphQL", query, "The query"},
		{"curl", "curl", "curl --get " + quoted(address+"/graphql") + " \\\n  --data-urlencode " + quoted("variables="+variables) +
			" \\\n  --data-urlencode " + quoted("query="+query), "The query, asked by curl"},
		{"fetch", "fetch", values.Replace(byFetch), "The query, asked by fetch"},
		{"apollo", "Apollo Client", values.Replace(byApollo), "The query, asked by Apollo Client"},
	}
}

const byFetch = "const query = `QUERY`;\n" + `
const response = await fetch('ADDRESS/graphql', {
  method: 'POST',
  headers: { 'Content-Type': 'application/json' },
  body: JSON.stringify({ query, variables: VARIABLES }),
});
const { data, errors } = await response.json();`

const byApollo = `import {
  ApolloClient, HttpLink, InMemoryCache, gql,
} from '@apollo/client';

const client = new ApolloClient({
  link: new HttpLink({ uri: 'ADDRESS/graphql' }),
  cache: new InMemoryCache(),
});

const { data } = await client.query({
  query: gql` + "`\nINDENTED\n  `" + `,
  variables: VARIABLES,
});`

// encoded returns a value as JSON that can also stand in a script.
func encoded(value map[string]string) string {
	text, err := json.Marshal(value)
	if err != nil {
		panic(err) // strings can always be encoded
	}
	return string(text)
}

// quoted returns a text as one word of a shell.
func quoted(text string) string {
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}

// embedding returns what a shop puts into its own page.
func embedding(address, product string) string {
	return `<script src="` + address + `/talkback.js" defer></script>` + "\n" +
		`<talkback-comments product="` + attribute.Replace(product) + `" endpoint="` + address + `/graphql"></talkback-comments>`
}

// attribute escapes what could end an attribute of HTML.
var attribute = strings.NewReplacer("&", "&amp;", `"`, "&quot;")

// span is a stretch of code, with what it is: "key", "string", "number", "word" or nothing.
type span struct{ Class, Text string }

// jsonForm finds what is coloured in indented JSON. A string before a colon is a key.
var jsonForm = regexp.MustCompile(`(?P<key>"(?:[^"\\]|\\.)*":)|(?P<string>"(?:[^"\\]|\\.)*")|(?P<number>-?\d[\d.eE+-]*)|(?P<word>true|false|null)`)

// printed returns JSON with an indentation, in spans. Text that is no JSON is one span.
func printed(text []byte) []span {
	var out bytes.Buffer
	if err := json.Indent(&out, text, "", "  "); err != nil {
		return []span{{"", string(text)}}
	}
	code := out.String()
	var spans []span
	end := 0
	for _, found := range jsonForm.FindAllStringSubmatchIndex(code, -1) {
		spans = append(spans, span{"", code[end:found[0]]}, span{classOf(found), code[found[0]:found[1]]})
		end = found[1]
	}
	return append(spans, span{"", code[end:]})
}

// classOf returns the name of the group that matched.
func classOf(found []int) string {
	for i, name := range jsonForm.SubexpNames() {
		if name != "" && found[2*i] >= 0 {
			return name
		}
	}
	return ""
}
