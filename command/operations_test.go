package command_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/httpapi/limits"
	"github.com/talkback/talkback/internal/commenttest"
	"github.com/talkback/talkback/internal/schematest"
	"github.com/talkback/talkback/internal/streamtest"
)

// composer makes up valid operations over the whole schema.
type composer struct {
	*shop
	r         *rand.Rand
	writing   bool   // whether comments are being written, so none is settled
	deleting  bool   // a deletion's payload shows its product as after it, and its comment as before
	product   string // the product of the field being composed
	names     int
	declared  []string
	variables map[string]any
	fragments []string
}

// shop is the data of the operations, which does not change.
type shop struct {
	schema   *ast.Schema
	products []string
	comments []comment.Comment
	lists    []cursorList
}

// cursorList is a list of comments with its cursors.
type cursorList struct {
	product, order string
	filter         any
	cursors        []any
}

func pick[T any](r *rand.Rand, from ...T) T { return from[r.IntN(len(from))] }

// query returns a random query.
func (c *composer) query() string {
	return c.whole("query", c.selection(c.schema.Query, 4))
}

// newest returns a query for the newest comments of products, which a server finds in pages,
// statistics or indexes.
func (c *composer) newest() string {
	pages := []string{
		"first: 5", "first: 1", "first: 0", "last: 3, order: OLDEST_FIRST", "first: 4, order: OLDEST_FIRST", "last: 4", "first: 3, page: 1",
		"first: 5, filter: {ratings: [4, 5]}", "first: 2, filter: {ratings: [1, 2, 3]}", "last: 6, order: OLDEST_FIRST, filter: {ratings: [1, 2]}",
		`first: 5, filter: {languages: ["de", "en"]}`, `first: 5, filter: {createdBefore: "2024-05-01T00:20:00Z"}`, "first: 3, settledOnly: true", "first: 5, order: HIGHEST_RATED", "last: 3, order: LOWEST_RATED", "first: 4, order: MOST_HELPFUL",
	}
	choices := []string{"lastCommentedAt", "latestPositive { id text }", "latestPositive { id rating }", "latestNegative { id title }", "latestNegative { text }", "stats { total }", "languages { language }", "comments(first: 200) { nodes { id } }"}
	for _, page := range pages {
		choices = append(choices, "comments("+page+") { nodes { id rating } pageInfo { hasNextPage hasPreviousPage } }",
			"comments("+page+") { totalCount nodes { id text product { latestNegative { id } lastCommentedAt } } }")
	}
	fields := pick(c.r, "", "some: latestNegative { id } more: latestPositive { id } stats { total }")
	for n := range 2 + c.r.IntN(5) {
		fields += fmt.Sprintf(" f%d: %s", n, pick(c.r, choices...))
	}
	return "{ " + pick(c.r, `product(id: "vase")`, `product(id: "plate")`, `products(ids: ["plate", "cup", "none"])`) + " { " + fields + " } }"
}

// whole returns an operation with the variables and fragments that its text uses.
func (c *composer) whole(kind, selection string) string {
	if len(c.declared) > 0 {
		kind += "(" + strings.Join(c.declared, " ") + ")"
	}
	return kind + " " + selection + "\n" + strings.Join(c.fragments, "\n")
}

// selection returns some fields of a type, some twice with different subfields. It leaves out a
// few: `plan` has durations, `asOf` the time, and a message is text for people. Other operations'
// mutations change the customer's own comments.
func (c *composer) selection(of *ast.Definition, depth int) string {
	var parts []string
	count := 1 + c.r.IntN(3)
	if of.Name == "Product" {
		count += c.r.IntN(4)
	}
	for range count {
		field := of.Fields[c.r.IntN(len(of.Fields))]
		if of.Name == "Query" && c.r.IntN(2) == 0 {
			field = of.Fields.ForName("product")
		}
		inside := c.schema.Types[field.Type.Name()]
		if strings.HasPrefix(field.Name, "__") || slices.Contains([]string{"plan", "asOf", "message", "viewerComment"}, field.Name) || of.Name == "Viewer" && field.Name == "comments" || c.deleting && field.Name == "product" || inside.IsCompositeType() && depth == 0 {
			continue
		}
		head := c.head(of, field)
		for range 1 + c.r.IntN(5)/4 {
			text := head + c.condition()
			if inside.IsCompositeType() {
				text += " " + c.selection(inside, depth-1)
			}
			parts = append(parts, c.wrapped(of, field, text))
		}
	}
	for _, possible := range c.schema.PossibleTypes[of.Name] {
		if of.Kind == ast.Interface && c.r.IntN(4) > 0 {
			parts = append(parts, "... on "+possible.Name+c.condition()+" "+c.selection(possible, depth-1))
		}
	}
	if len(parts) == 0 || c.r.IntN(6) == 0 {
		parts = append(parts, "__typename")
	}
	return "{ " + strings.Join(parts, " ") + " }"
}

// head returns a field with arguments, under a name that it shares with no other field.
func (c *composer) head(of *ast.Definition, field *ast.FieldDefinition) string {
	values := c.arguments(field)
	var arguments []string
	for _, argument := range field.Arguments {
		if value, given := values[argument.Name]; given {
			arguments = append(arguments, argument.Name+": "+c.given(argument.Type, value))
		}
	}
	if of.Name == "Query" {
		c.product, _ = values["id"].(string)
	}
	if len(arguments) > 0 {
		c.names++
		return fmt.Sprintf("f%d: %s(%s)", c.names, field.Name, strings.Join(arguments, ", "))
	}
	return pick(c.r, "", "", "other_"+field.Name+": ") + field.Name
}

// condition returns a directive, or more often none.
func (c *composer) condition() string {
	if c.r.IntN(7) > 0 {
		return ""
	}
	value := c.r.IntN(2) == 0
	if text := fmt.Sprint(value); c.r.IntN(2) == 0 {
		return pick(c.r, " @skip", " @include") + "(if: " + text + ")"
	}
	c.names++
	name := fmt.Sprint("if", c.names)
	if c.r.IntN(2) == 0 {
		c.declared = append(c.declared, fmt.Sprintf("$%s: Boolean = %t", name, value))
	} else {
		c.declared = append(c.declared, "$"+name+": Boolean!")
		c.variables[name] = value
	}
	return pick(c.r, " @skip", " @include") + "(if: $" + name + ")"
}

// wrapped returns a field as it is or in a fragment.
func (c *composer) wrapped(of *ast.Definition, field *ast.FieldDefinition, text string) string {
	on := of.Name
	if field.Name == "id" && len(of.Interfaces) > 0 {
		on = pick(c.r, on, "Node")
	}
	switch c.r.IntN(8) {
	case 0:
		return "..." + c.condition() + " { " + text + " }"
	case 1:
		return "... on " + on + c.condition() + " { " + text + " }"
	case 2:
		name := fmt.Sprint("F", len(c.fragments))
		c.fragments = append(c.fragments, "fragment "+name+" on "+on+" { "+text+" }")
		return "..." + name + c.condition() + pick(c.r, "", " ..."+name)
	}
	return text
}

// arguments returns values for some arguments of a field.
func (c *composer) arguments(field *ast.FieldDefinition) map[string]any {
	id := func() any { return string(pick(c.r, c.comments...).ID) }
	if c.r.IntN(5) > 0 && !strings.HasPrefix(field.Name, "comment") && (field.Name[0] == 'p' || c.r.IntN(2) == 0) {
		id = func() any { return pick(c.r, c.products...) }
	}
	list := pick(c.r, c.lists...)
	for range 4 {
		if list.product != c.product {
			list = pick(c.r, c.lists...)
		}
	}
	language := func() any { return string(pick(c.r, commenttest.Languages...)) }
	moment := func() any {
		return commenttest.Epoch.Add(time.Duration(c.r.IntN(4000)) * time.Second).Format(time.RFC3339)
	}
	all := map[string]func() any{
		"id": func() any {
			return pick(c.r, id(), id(), id(), id(), id(), "", "c_01HZ0000000000000000000000", "c_", "author:x")
		},
		"commentId":  func() any { return id() },
		"customerId": func() any { return pick(c.r, "u1", "u2") },
		"ids":        func() any { return []any{id(), pick(c.r, id(), "none", ""), id()}[:c.r.IntN(4)] },
		"first":      func() any { return pick[any](c.r, 0, 1, 2, 3, 4, 5, 5, -1) },
		"last":       func() any { return pick[any](c.r, 0, 1, 2, 3, 4, 5, 5, -1) },
		"page":       func() any { return pick[any](c.r, 1, 1, 2, 3, 9, 0) },
		"around":     func() any { return pick[any](c.r, 0, 1, 3, 11) },
		"order": func() any {
			return pick(c.r, list.order, list.order, "NEWEST_FIRST", "OLDEST_FIRST", "HIGHEST_RATED", "LOWEST_RATED", "MOST_HELPFUL")
		},
		"after":       func() any { return pick(c.r, append(slices.Clip(list.cursors), "x")...) },
		"before":      func() any { return pick(c.r, append(slices.Clip(list.cursors), "x")...) },
		"orLatest":    func() any { return c.r.IntN(2) == 0 },
		"settledOnly": func() any { return c.r.IntN(2) == 0 && !c.writing },
		"lang":        language, "language": language,
		"filter": func() any {
			if c.r.IntN(2) == 0 {
				return list.filter
			}
			filter := map[string]any{}
			for name, value := range map[string]any{
				"languages": []any{language(), language()}, "ratings": []any{1 + c.r.IntN(6), 1 + c.r.IntN(5)}, "createdAfter": moment(), "createdBefore": moment(),
				"verified": c.r.IntN(2) == 0, "withMedia": c.r.IntN(2) == 0,
			} {
				filter[name] = value
			}
			for _, name := range []string{"languages", "ratings", "createdAfter", "createdBefore", "verified", "withMedia"} {
				if c.r.IntN(3) > 0 {
					delete(filter, name)
				}
			}
			return filter
		},
	}
	names := []string{"id", "commentId", "customerId", "ids", "lang", "language", "around"}
	if field.Name == "comments" {
		names = strings.Fields(pick(c.r, "", "first", "last", "first page", "page", "first after", "last before", "after before", "last page", "last page", "first settledOnly", "first last", "first after before"))
		names = append(names, "order", "filter")
	} else if field.Name == "leaderboard" {
		names = append(names, "first")
	}
	out := map[string]any{}
	for _, argument := range field.Arguments {
		optional := !argument.Type.NonNull
		if !slices.Contains(names, argument.Name) || optional && c.r.IntN(4) == 0 && (argument.Name != "order" && argument.Name != "filter" || list.filter == nil) {
			continue
		}
		out[argument.Name] = all[argument.Name]()
		if optional && c.r.IntN(12) == 0 {
			out[argument.Name] = nil
		}
	}
	if out["last"] != nil && out["page"] != nil { // refused, and else from the end that the newest are at
		out["last"], out["page"], out["order"], out["filter"] = 5, 1, "OLDEST_FIRST", nil
	}
	return out
}

// given returns a value as written in an operation: as a literal, or as a variable, wholly or in
// part.
func (c *composer) given(of *ast.Type, value any) string {
	if c.r.IntN(4) == 0 {
		return c.variable(of, value)
	}
	switch v := value.(type) {
	case []any:
		var parts []string
		for _, element := range v {
			parts = append(parts, c.given(of.Elem, element))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case map[string]any:
		var parts []string
		for _, field := range c.schema.Types[of.Name()].Fields {
			if inside, there := v[field.Name]; there {
				parts = append(parts, field.Name+": "+c.given(field.Type, inside))
			}
		}
		return "{" + strings.Join(parts, ", ") + "}"
	}
	return literal(value)
}

// variable declares a variable that has the value, has it as its default, is null, or is missing.
func (c *composer) variable(of *ast.Type, value any) string {
	c.names++
	name := fmt.Sprint("v", c.names)
	nullable := strings.TrimSuffix(of.String(), "!")
	declaration := "$" + name + ": " + of.String()
	switch way := c.r.IntN(8); {
	case way < 3 && value != nil: // not sent, null, or sent
		declaration = "$" + name + ": " + nullable + " = " + literal(value)
		if way > 0 {
			c.variables[name] = []any{1: nil, 2: value}[way]
		}
	case way == 3 && !of.NonNull:
		c.variables[name] = nil
	case way == 4 && !of.NonNull: // not sent
	default:
		c.variables[name] = value
	}
	c.declared = append(c.declared, declaration)
	return "$" + name
}

// literal returns a value as a part of an operation.
func literal(value any) string {
	switch v := value.(type) {
	case []any:
		var parts []string
		for _, element := range v {
			parts = append(parts, literal(element))
		}
		return "[" + strings.Join(parts, ",") + "]"
	case map[string]any:
		var parts []string
		for name, inside := range v {
			parts = append(parts, name+":"+literal(inside))
		}
		slices.Sort(parts)
		return "{" + strings.Join(parts, ",") + "}"
	case string:
		if strings.HasSuffix(v, "_FIRST") || strings.HasSuffix(v, "_RATED") || v == "MOST_HELPFUL" { // of an enum
			return v
		}
		return strconv.Quote(v)
	case nil:
		return "null"
	}
	return fmt.Sprint(value)
}

// midway returns comments with 3 stars, but for the two oldest, a complaint and a praise.
func midway(r *rand.Rand, product string, count int) []comment.Comment {
	comments := commenttest.Many(r, product, count)
	slices.SortFunc(comments, func(a, b comment.Comment) int { return strings.Compare(string(a.ID), string(b.ID)) })
	for i := range comments {
		comments[i].Rating = 3
	}
	comments[0].Rating, comments[1].Rating = 1, 5
	return comments
}

// Each field of an operation has the same answer as in an operation of its own. Two servers are
// asked: the one that gets whole operations trusts statistics to skip reads. Operations for the
// newest comments go to a fresh one, before and after it has read about the products. `go test -run
// TestOperations/17` with the seed of a failure asks number 17 again.
func TestOperations(t *testing.T) {
	t.Parallel()
	apart := guarded(t)
	apart.header = bearer(tokenOf(t, "u1", time.Hour))
	r := commenttest.Rand(t)
	s := &shop{schema: schematest.Load(t), products: []string{"vase", "cup", "plate", "none"}}
	s.comments = slices.Concat(commenttest.Many(r, "vase", 40), commenttest.Many(r, "cup", 6), midway(r, "plate", 40))
	apart.load(s.comments...)
	bounds := &apart.serve.Limits
	*bounds = limits.Default()
	bounds.Aliases, bounds.Tokens, bounds.Variables, bounds.ReadUnits = 500, 10_000, 200, 2000
	bounds.Fields, bounds.Fragments, bounds.Overlaps = 5000, 200, 50_000 // one query in some thousands needs these
	apart.pages = apart.inTable(t, s.comments...)
	apart.useClient(apart.session.Client)
	whole := *apart
	whole.watermark = streamtest.Prompt{}
	whole.useClient(apart.session.Client)
	for _, product := range s.products[:3] {
		for _, filter := range []any{nil, map[string]any{"ratings": []any{4, 5}}, map[string]any{"languages": []any{"de", "en"}}} {
			for _, order := range []string{"NEWEST_FIRST", "OLDEST_FIRST", "HIGHEST_RATED", "LOWEST_RATED", "MOST_HELPFUL"} {
				var data struct{ Product struct{ Comments page } }
				apart.mustAsk(fmt.Sprintf(`{ product(id: %q) { comments(first: 50, order: %s, filter: %s) { edges { cursor } } } }`, product, order, literal(filter)), nil, &data)
				list := cursorList{product, order, filter, nil}
				for _, edge := range data.Product.Comments.Edges {
					list.cursors = append(list.cursors, edge.Cursor)
				}
				s.lists = append(s.lists, list)
			}
		}
	}
	seed, memory := r.Uint64(), &sync.Map{}
	var answered, refused atomic.Int64
	count := commenttest.Times(1000, 5000)
	for i := range count {
		t.Run(strconv.Itoa(i), func(t *testing.T) {
			t.Parallel()
			c := &composer{shop: s, r: rand.New(rand.NewPCG(seed, uint64(i))), variables: map[string]any{}}
			whole, apart := whole, *apart
			whole.tb, apart.tb = t, t
			if i%5 == 0 {
				c.checkMutations(&apart)
				return
			}
			query := c.query()
			fresh := i%5 == 1
			if fresh {
				query = c.newest()
				whole.useClient(apart.session.Client)
			}
			o := newOracle(t, s.schema, query, c.variables)
			got := whole.ask(query, c.variables)
			if len(got.Errors) > 0 && got.Errors[0].Path == nil && got.Data == nil {
				if refused.Add(1); !slices.Contains([]any{"TOO_COMPLEX", "ANSWER_TOO_LARGE"}, got.Errors[0].Extensions["code"]) {
					t.Fatalf("%s\n%v\nis refused: %v", query, c.variables, got.Errors)
				}
				return
			}
			answered.Add(1)
			o.ask, o.memory = apart.ask, memory
			want := o.object(position{}, "Query", []ast.SelectionSet{o.operation.SelectionSet})
			o.compare(got, want)
			if fresh {
				o.compare(whole.ask(query, c.variables), want)
			}
		})
	}
	t.Cleanup(func() {
		if refused.Load() > answered.Load()/4 {
			t.Errorf("%d operations are refused as too large, %d are answered: this says little", refused.Load(), answered.Load())
		}
	})
}

// compare compares an answer with the data and the errors expected of the operation.
func (o *oracle) compare(got answer, want string) {
	o.tb.Helper()
	codes := map[string]string{}
	for _, err := range got.Errors {
		codes[fmt.Sprint(err.Path)] = fmt.Sprint(err.Extensions["code"])
	}
	if diff := cmp.Diff(o.errors, codes); diff != "" || len(got.Errors) != len(codes) || string(got.Data) != want {
		o.tb.Errorf("%s\nwith %s\n%s\nis answered otherwise apart:\n%s\nerrors (-apart +together): %s", o.text, literal(map[string]any(o.variables)), got.Data, want, diff)
	}
}

func newOracle(tb testing.TB, schema *ast.Schema, text string, variables map[string]any) *oracle {
	tb.Helper()
	document, errs := gqlparser.LoadQueryWithRules(schema, text, nil)
	if len(errs) > 0 {
		tb.Fatalf("%s\nis not valid: %v", text, errs)
	}
	return &oracle{tb: tb, schema: schema, text: text, operation: document.Operations[0], variables: variables, memory: &sync.Map{}, errors: map[string]string{}}
}

func mustJSON(value any) string {
	text, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	return string(text)
}
