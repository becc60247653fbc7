package resolvers

import (
	"bytes"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vektah/gqlparser/v2/ast"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/graph"
	"github.com/talkback/talkback/graph/lookahead"
	"github.com/talkback/talkback/internal/commenttest"
)

// Every entry of the tables has the arguments and the type of the schema. A field whose argument or
// null the tables do not know would be answered wrongly.
func TestTablesMatchTheSchema(t *testing.T) {
	schema, base := graph.NewExecutableSchema(graph.Config{}).Schema(), comment.MediaBase("https://media.example/")
	full := commenttest.Nasty(commenttest.Rand(t), "pan")
	full.Media, full.Reply = []comment.Media{{Path: "a.jpg"}}, &comment.Reply{}
	bare := comment.Comment{ID: full.ID}
	// Some objects of each type: those with nothing in them may have to be null.
	objects := map[string][]any{
		"CommentEdge":   {&graph.CommentEdge{Node: &full}},
		"Comment":       {&full, &bare},
		"Media":         {&comment.Media{}, &comment.Media{Width: 1, Height: 1}},
		"Author":        {&full.Author, &bare.Author},
		"Votes":         {full.ShownVotes(), bare.ShownVotes()},
		"Reply":         {full.Reply},
		"Product":       {&productStats{}, &productStats{stats: comment.Stats{"en": {}}}},
		"CommentStats":  {&comment.Statistics{}, &comment.Statistics{Counts: comment.Counts{0, 1, 0, 0, 1}}},
		"RatingCount":   {&comment.RatingCount{}},
		"LanguageCount": {&comment.LanguageCount{}},
	}
	for name, fields := range typesOf(base) {
		definition := schema.Types[name]
		if definition == nil || len(objects[name]) == 0 {
			t.Errorf("the schema, or this test, has no type %s", name)
			continue
		}
		for name, field := range fields {
			want := definition.Fields.ForName(name)
			if want == nil {
				t.Errorf("the schema has no field %s.%s", definition.Name, name)
				continue
			}
			if arguments := strings.Fields(field.argument); !slices.EqualFunc(want.Arguments, arguments, func(a *ast.ArgumentDefinition, name string) bool { return a.Name == name }) {
				t.Errorf("%s.%s reads the arguments %v, and has %d", definition.Name, name, arguments, len(want.Arguments))
			}
			for _, object := range objects[definition.Name] {
				checkValue(t, schema, definition.Name+"."+name, want.Type, field.get(object, nil))
			}
		}
	}
}

// checkValue checks that a value is one that a type of the schema may have.
func checkValue(t *testing.T, schema *ast.Schema, field string, typ *ast.Type, value any) {
	t.Helper()
	named, null := typ.Name(), value == nil
	list, isList := value.([]any)
	fits := schema.Types[named].Kind == ast.Object // of another Go type than what follows
	switch v := value.(type) {
	case *string:
		null, fits = v == nil, named == "String" || named == "ID" || named == "Language" || schema.Types[named].Kind == ast.Enum
	case *int:
		null, fits = v == nil, named == "Int"
	case *time.Time:
		null, fits = v == nil, named == "DateTime"
	case int:
		fits = named == "Int"
	case float64:
		fits = named == "Float"
	case bool:
		fits = named == "Boolean"
	}
	switch {
	case null && typ.NonNull:
		t.Errorf("%s is null, which a %s never is", field, typ)
	case !null && (!fits || isList != (typ.Elem != nil)):
		t.Errorf("%s is %T, which no %s is", field, value, typ)
	case slices.Contains(list, nil):
		t.Errorf("%s has an element that is null", field)
	}
}

// A field with an argument that its entry does not read is left to gqlgen, even if the operation
// omits it. The default could change the answer.
func TestUnknownArgumentIsLeftToGqlgen(t *testing.T) {
	lang, as := &ast.ArgumentDefinition{Name: "lang"}, &ast.ArgumentDefinition{Name: "as"}
	for _, row := range []struct {
		why       string
		field     string
		arguments ast.ArgumentDefinitionList
		want      bool
	}{
		{"no argument", "id", nil, true},
		{"an argument that is read", "stats", ast.ArgumentDefinitionList{lang}, true},
		{"a new argument of a field without any", "id", ast.ArgumentDefinitionList{as}, false},
		{"a new argument beside one that is read", "stats", ast.ArgumentDefinitionList{lang, as}, false},
	} {
		asked := &ast.Field{Name: row.field, Definition: &ast.FieldDefinition{Arguments: row.arguments, Type: ast.NamedType("X", nil)}}
		if _, got := typesOf("").parts("Product", []lookahead.Field{{Field: asked}}, nil); got != row.want {
			t.Errorf("%s: %v", row.why, got)
		}
	}
}

// A list asks for numbers once, when it is written: its size is that of the texts.
func TestSizeReadsTextsAlone(t *testing.T) {
	read, asked := map[string]int{}, func(name, of string, below ...lookahead.Field) lookahead.Field {
		return lookahead.Field{Field: &ast.Field{Name: name, Definition: &ast.FieldDefinition{Type: ast.NamedType(of, nil)}}, Fields: below}
	}
	value := func(name string, v any) field {
		return of(func(*comment.Comment) any { read[name]++; return v })
	}
	parts, plain := types{
		"Comment": {"id": value("id", new("c_1")), "author": value("author", &comment.Comment{}), "votes": value("votes", &comment.Comment{})},
		"Author":  {"name": value("name", new("Ada")), "age": value("age", 36)},
		"Votes":   {"helpful": value("helpful", 2)},
	}.parts("Comment", []lookahead.Field{
		asked("id", "ID"), asked("author", "Author", asked("name", "String"), asked("age", "Int")), asked("votes", "Votes", asked("helpful", "Int")),
	}, nil)
	size := directList([]*comment.Comment{{}}, parts).Size()
	if want := map[string]int{"id": 1, "author": 1, "name": 1}; !plain || size != len("c_1Ada") || !maps.Equal(read, want) {
		t.Errorf("a size of %d after reading %v, want %v", size, read, want)
	}
}

// A list makes room for itself at once, in place of again and again.
func TestListMakesRoomForItself(t *testing.T) {
	comments := make([]*comment.Comment, 100)
	for i := range comments {
		comments[i] = &comment.Comment{Text: strings.Repeat("good ", 60)}
	}
	parts := []part{{before: `"text":`, texts: true, get: func(c, _ any) any { return &c.(*comment.Comment).Text }}}
	list, room := directList(comments, parts), bytes.NewBuffer(make([]byte, 0, 100_000))
	roomy := testing.AllocsPerRun(5, func() { room.Reset(); list.MarshalGQL(room) })
	grown := testing.AllocsPerRun(5, func() { list.MarshalGQL(new(bytes.Buffer)) }) - roomy
	if grown > 4 { // the buffer itself and its bytes, and one more with the race detector; 10 if it grows again and again
		t.Errorf("%v allocations for %d bytes", grown, room.Len())
	}
}
