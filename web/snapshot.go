package web

import (
	"bytes"
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"html/template"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"
)

//go:embed home/showcase.graphql
var showcase string

//go:embed home/leaders.graphql
var leaders string

// usualProduct is the product of the showcase while no product has comments. The sample data has
// it.
const usualProduct = "espresso-machine"

// boards is how many languages have a leaderboard of their own on the page.
const boards = 6

// snapshot has the API's answers at one time.
type snapshot struct {
	at            time.Time
	product       string         // of the showcase
	answer        apiResponse    // to the showcase
	shown         showcaseAnswer // the same
	took          time.Duration
	leaders       []entry // of all languages, by rank; nil if the API refused
	leadersStatus int     // the status of the answer with the leaders
	byLanguage    []board // the language with most comments first
	named         map[string]Product
	widget        template.HTML // of the product of the showcase
}

// products returns the ids of all products of leaderboards.
func (s *snapshot) products() (ids []string) {
	for _, b := range append(slices.Clone(s.byLanguage), board{leaders: s.leaders}) {
		for _, e := range b.leaders {
			ids = append(ids, e.Product.ID)
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// showcaseAnswer has what the page uses of the answer to the showcase.
type showcaseAnswer struct {
	Data struct {
		Product *struct {
			Stats    *struct{ Total int }
			Comments *struct {
				Nodes []struct{}
				Plan  struct {
					Waves   int
					Summary string
				}
			}
		}
	}
	Extensions struct{ Cost struct{ ReadUnits float64 } }
}

// board is the leaderboard of a language.
type board struct {
	language string
	leaders  []entry
}

// entry is a LeaderboardEntry of the schema.
type entry struct {
	Rank    int
	Count   int
	Product struct {
		ID    string
		Stats *struct {
			Total   int
			Average *float64
		}
		Languages []struct {
			Language string
			Count    int
		}
	}
}

// take asks the API for everything that the page shows. Answers that fail are absent.
func take(ctx context.Context, api http.Handler) *snapshot {
	s := &snapshot{product: usualProduct}
	var overall struct{ Leaderboard []entry }
	all := askForAll(ctx, api, leaders, nil)
	decode(all, &overall)
	s.leadersStatus = all.Status
	if s.leaders = overall.Leaderboard; len(s.leaders) > 0 {
		s.product = s.leaders[0].Product.ID
		s.byLanguage = takeBoards(ctx, api, languagesOf(s.leaders))
	}
	began := time.Now()
	s.answer = askForAll(ctx, api, showcase, map[string]string{"id": s.product})
	s.at = time.Now()
	s.took = s.at.Sub(began)
	_ = json.Unmarshal(s.answer.Body, &s.shown) // a body that is no answer leaves it without a product
	return s
}

// languagesOf returns the languages with most comments among those of the products.
func languagesOf(entries []entry) []string {
	total := map[string]int{}
	for _, e := range entries {
		for _, l := range e.Product.Languages {
			total[l.Language] += l.Count
		}
	}
	tags := slices.SortedFunc(maps.Keys(total), func(a, b string) int {
		return cmp.Or(cmp.Compare(total[b], total[a]), cmp.Compare(a, b))
	})
	return tags[:min(len(tags), boards)]
}

// takeBoards asks for the leaderboards of languages, all in one request.
func takeBoards(ctx context.Context, api http.Handler, tags []string) []board {
	var declared, fields strings.Builder
	variables := map[string]string{}
	for i, tag := range tags {
		fmt.Fprintf(&declared, "$l%d: Language!, ", i)
		fmt.Fprintf(&fields, "b%d: leaderboard(first: 3, language: $l%d) { rank count product { id } }\n", i, i)
		variables[fmt.Sprintf("l%d", i)] = tag
	}
	answer := map[string][]entry{}
	decode(askForAll(ctx, api, "query LeadersByLanguage("+declared.String()+") {\n"+fields.String()+"}", variables), &answer)
	var found []board
	for i, tag := range tags {
		if entries := answer[fmt.Sprintf("b%d", i)]; len(entries) > 0 {
			found = append(found, board{tag, entries})
		}
	}
	return found
}

// decode decodes the data of an answer. A body that is no answer leaves the target as it is.
func decode(r apiResponse, target any) {
	var answer struct{ Data json.RawMessage }
	if json.Unmarshal(r.Body, &answer) == nil && len(answer.Data) > 0 {
		_ = json.Unmarshal(answer.Data, target) // a value of another type is absent, like a failed one
	}
}

// snippet is the query of the page in the code of one client.
type snippet struct {
	Key, Name string // for the page's own use, and for readers
	Text      string
	Label     string // of the text, for screen readers
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
	return string(mustHave(json.Marshal(value)))
}

// quoted returns a text as one word of a shell.
func quoted(text string) string {
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}

// embedding returns the HTML that a shop puts into its own page.
func embedding(address, product string) string {
	return `<script src="` + address + `/talkback.js" defer></script>` + "\n" +
		`<talkback-comments product="` + template.HTMLEscapeString(product) + `" endpoint="` + address + `/graphql"></talkback-comments>`
}

// span is a piece of code with its class: "key", "string", "number", "word" or "".
type span struct{ Class, Text string }

// jsonForm matches the coloured parts of indented JSON. A string before a colon is a key.
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
		group := 1
		for found[2*group] < 0 { // one of them matched
			group++
		}
		spans = append(spans, span{"", code[end:found[0]]}, span{jsonForm.SubexpNames()[group], code[found[0]:found[1]]})
		end = found[1]
	}
	return append(spans, span{"", code[end:]})
}
