package command_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/vektah/gqlparser/v2/ast"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/internal/commenttest"
)

// verdict is the expected result of a mutation.
type verdict struct {
	code    string // of the error of the field, if it has one
	problem string // the code and the field of the userError, if there is one
	id      comment.ID
	after   comment.Comment // as far as it is known before
	changes bool
}

// checkMutations sends operations of mutations. Each payload shows its comment as its mutation left
// it, or as before a deletion. Each comment has its own product, so no later mutation of an
// operation changes an earlier answer.
func (c *composer) checkMutations(a *api) {
	a.tb.Helper()
	c.writing = true
	model := commenttest.NewModel()
	for turn := range 3 {
		c.declared, c.variables, c.fragments, c.names = nil, map[string]any{}, nil, 0
		there := model.All()
		var parts []string
		for range 1 + c.r.IntN(3) {
			parts = append(parts, c.mutation(&there, fmt.Sprintf("of-%d-%d-%d", c.r.Uint32(), turn, len(parts)), len(parts)))
		}
		o := newOracle(a.tb, c.schema, c.whole("mutation", "{ "+strings.Join(parts, " ")+" }"), c.variables)
		o.ask = a.ask
		verdicts, payloads := map[string]verdict{}, map[string]string{}
		o.joined("Mutation", []ast.SelectionSet{o.operation.SelectionSet}, func(g *group) string {
			verdicts[g.Alias] = o.verdict(g, model)
			if g.Name == "deleteComment" {
				payloads[g.Alias] = o.payload(g, verdicts[g.Alias])
			}
			return ""
		})
		o.memory.Clear()
		got := a.ask(o.text, c.variables)
		var data map[string]payload
		if err := json.Unmarshal(got.Data, &data); err != nil {
			a.tb.Fatalf("%s\n%v %v", o.text, err, got.Errors)
		}
		want := o.joined("Mutation", []ast.SelectionSet{o.operation.SelectionSet}, func(g *group) string {
			out := verdicts[g.Alias]
			if g.Name == "deleteComment" {
				model.Delete(out.id)
				return payloads[g.Alias]
			}
			if written := data[g.Alias].Comment; written != nil && out.id == "" {
				out.id = comment.ID(written.ID)
				out.after.ID = out.id
				model.Insert(out.after)
			}
			if out.changes {
				model.Replace(out.after)
			}
			return o.payload(g, out)
		})
		o.compare(got, want)
		for _, out := range verdicts {
			a.checkStored(model, out.id)
		}
		for _, want := range model.All() {
			a.checkStored(model, want.ID)
		}
	}
}

// checkStored compares a comment, read by its id, with the model.
func (a *api) checkStored(model *commenttest.Model, id comment.ID) {
	a.tb.Helper()
	if id == "" {
		return
	}
	var data struct{ Comment *shown }
	a.mustAsk(fmt.Sprintf(`{ comment(id: %q) { id product { id } rating language title text author { id name } version } }`, id), nil, &data)
	there := model.All()
	i := slices.IndexFunc(there, func(c comment.Comment) bool { return c.ID == id })
	if i < 0 != (data.Comment == nil) {
		a.tb.Fatalf("%s is %v, want %d of %v", id, data.Comment, i, there)
	}
	if i >= 0 {
		want := showing(there[i])
		want.CreatedAt, want.UpdatedAt = nil, nil
		if got := mustJSON(data.Comment); got != mustJSON(want) {
			a.tb.Fatalf("%s is stored, want %s", got, mustJSON(want))
		}
	}
}

// mutation returns a random field of a mutation. It chooses the comment to edit or delete among the
// existing ones.
func (c *composer) mutation(there *[]comment.Comment, product string, number int) string {
	name := pick(c.r, "add", "edit", "delete")
	if len(*there) == 0 && c.r.IntN(4) > 0 {
		name = "add"
	}
	chosen := comment.Comment{ID: "c_01HZ0000000000000000000000", Version: 1}
	if name != "add" && len(*there) > 0 {
		chosen, *there = (*there)[0], (*there)[1:]
	}
	fresh := commenttest.Random(c.r, product)
	var title any
	if fresh.Title != nil {
		title = *fresh.Title
	}
	input := map[string]any{"id": string(chosen.ID), "version": chosen.Version, "rating": fresh.Rating, "language": string(fresh.Language), "title": title, "text": fresh.Text}
	switch name {
	case "add":
		delete(input, "id")
		delete(input, "version")
		input["productId"] = pick(c.r, product, product, product, product, "")
		input["author"] = map[string]any{"id": pick(c.r, "u1", "u1", "u1", "u1", "u2"), "name": "Ada"}
	case "delete":
		input = map[string]any{"id": input["id"], "version": input["version"]}
	}
	if name != "add" && c.r.IntN(5) == 0 {
		input["version"] = chosen.Version + 1
	} else if name != "delete" && c.r.IntN(6) == 0 {
		input["rating"] = pick(c.r, 0, 6)
	}
	if name == "edit" {
		for _, field := range []string{"rating", "language", "title", "text"} {
			if c.r.IntN(2) == 0 {
				delete(input, field)
			}
		}
	}
	kind := strings.ToUpper(name[:1]) + name[1:] + "Comment"
	argument := c.schema.Mutation.Fields.ForName(name + "Comment").Arguments[0].Type
	c.deleting = name == "delete"
	text := fmt.Sprintf("m%d: %sComment(input: %s)", number, name, c.given(argument, input))
	return text + " { comment { id } userErrors { code path } " + c.selection(c.schema.Types[kind+"Payload"], 3)[1:]
}

// verdict returns the result of a mutation according to the model.
func (o *oracle) verdict(g *group, model *commenttest.Model) verdict {
	arguments, ok := o.arguments(g.Field)
	if !ok {
		return verdict{code: "BAD_INPUT"}
	}
	input := arguments["input"].(map[string]any)
	rating := func() int { var n int; _, _ = fmt.Sscan(fmt.Sprint(input["rating"]), &n); return n }
	title := func() *string {
		if text, _ := input["title"].(string); text != "" {
			return &text
		}
		return nil
	}
	if g.Name == "addComment" {
		author := input["author"].(map[string]any)
		after := comment.Comment{
			ProductID: input["productId"].(string), Rating: rating(), Language: comment.Language(input["language"].(string)), Title: title(), Text: input["text"].(string),
			Author: comment.Author{ID: author["id"].(string), Name: author["name"].(string)}, Version: 1,
		}
		var problems []string
		if after.ProductID == "" {
			problems = append(problems, "EMPTY productId")
		}
		if after.Rating < 1 || after.Rating > comment.MaxRating {
			problems = append(problems, "OUT_OF_RANGE rating")
		}
		if after.Author.ID != "u1" && len(problems) == 0 {
			return verdict{code: "FORBIDDEN"}
		}
		return verdict{after: after, problem: strings.Join(problems, ",")}
	}
	there := model.All()
	i := slices.IndexFunc(there, func(c comment.Comment) bool { return string(c.ID) == input["id"] })
	version := input["version"]
	switch {
	case i < 0:
		return verdict{problem: "NOT_FOUND id"}
	case version != nil && fmt.Sprint(version) != fmt.Sprint(there[i].Version):
		return verdict{problem: "CONFLICT version"}
	case g.Name == "deleteComment":
		return verdict{id: there[i].ID}
	case input["rating"] != nil && (rating() < 1 || rating() > comment.MaxRating):
		return verdict{problem: "OUT_OF_RANGE rating"}
	}
	after := there[i]
	if input["rating"] != nil {
		after.Rating = rating()
	}
	if language, given := input["language"].(string); given {
		after.Language = comment.Language(language)
	}
	if text, given := input["text"].(string); given {
		after.Text = text
	}
	if _, given := input["title"]; given {
		after.Title = title()
	}
	if !after.SaysAs(there[i]) {
		after.Version++
	}
	return verdict{id: after.ID, after: after, changes: true}
}

// payload returns the payload of a mutation. It reads the comment now.
func (o *oracle) payload(g *group, out verdict) string {
	if out.code != "" {
		o.errors[fmt.Sprint([]any{g.Alias})] = out.code
		return "null"
	}
	object := g.Definition.Type.Name()
	return o.joined(object, g.sets, func(inside *group) string {
		switch {
		case inside.Name == "__typename":
			return mustJSON(object)
		case inside.Name != "userErrors" && out.problem != "":
			return "null"
		case inside.Name == "commentEdge": // the only one of its product
			return o.object(position{
				[]string{fmt.Sprintf("product(id: %q)", out.after.ProductID), "comments(first: 1)", "edges"},
				[]any{"product", "comments", "edges", 0}, []any{g.Alias, inside.Alias},
			}, "CommentEdge", inside.sets)
		case inside.Name == "comment":
			at := position{path: []any{g.Alias}}.field(fmt.Sprintf("comment(id: %q)", out.id), "comment", inside.Alias)
			return o.object(at, "Comment", inside.sets)
		}
		var parts []string
		for _, problem := range strings.FieldsFunc(out.problem, func(r rune) bool { return r == ',' }) {
			code, field, _ := strings.Cut(problem, " ")
			parts = append(parts, o.joined("UserError", inside.sets, func(leaf *group) string {
				return map[string]string{"__typename": `"UserError"`, "code": mustJSON(code), "path": mustJSON([]string{field}), "commentId": "null"}[leaf.Name]
			}))
		}
		return "[" + strings.Join(parts, ",") + "]"
	})
}
