package safety

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/talkback/talkback/internal/commenttest"
	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/internal/dynamotest"
	"github.com/talkback/talkback/internal/faulttest"
)

// written is a comment as the table should have it. Each has a text of its own.
type written struct {
	product, language string
	rating, version   int
}

// said is comments by their texts.
type said map[string]written

// mutation is a mutation whose calls go wrong.
type mutation struct {
	name, field, input string
	// prepare returns the variables of one, and the comments after it when there were some before.
	prepare func(m *mutations, before said) (input map[string]any, after said)
	// again is how a repeat is answered after one that took effect; "-" for one that cannot be repeated.
	again string
}

var addition = mutation{name: "add", field: "addComment", input: "AddCommentInput", again: "-", prepare: (*mutations).addition}

var everyMutation = []mutation{
	addition,
	{name: "add with a key", field: "addComment", input: "AddCommentInput", again: "", prepare: func(m *mutations, before said) (map[string]any, said) {
		input, after := m.addition(before)
		input["idempotencyKey"] = input["text"]
		return input, after
	}},
	{name: "edit", field: "editComment", input: "EditCommentInput", again: "CONFLICT", prepare: func(m *mutations, before said) (map[string]any, said) {
		id, text, c := m.add(before)
		after := maps.Clone(before)
		delete(after, text)
		after["edited "+text] = written{c.product, c.language, c.rating, 2}
		return map[string]any{"id": id, "version": 1, "text": "edited " + text}, after
	}},
	{name: "edit that moves", field: "editComment", input: "EditCommentInput", again: "CONFLICT", prepare: func(m *mutations, before said) (map[string]any, said) {
		id, text, c := m.add(before)
		after := maps.Clone(before)
		after[text] = written{c.product, "fr", 1 + c.rating%5, 2}
		return map[string]any{"id": id, "version": 1, "rating": 1 + c.rating%5, "language": "fr"}, after
	}},
	{name: "delete", field: "deleteComment", input: "DeleteCommentInput", again: "NOT_FOUND", prepare: func(m *mutations, before said) (map[string]any, said) {
		id, text, _ := m.add(before)
		after := maps.Clone(before)
		delete(after, text)
		return map[string]any{"id": id}, after
	}},
}

// mutations sends mutations to a server whose calls are spoiled, and compares the table.
type mutations struct {
	*site
	random  *rand.Rand
	healthy string // the address of a server in order, which counts
	spoiled string
	network *faulttest.Network
	there   said // what the table has
	number  int  // of the last text
}

// addition returns the input of a new comment.
func (m *mutations) addition(before said) (input map[string]any, after said) {
	m.number++
	text := fmt.Sprint("text ", m.number)
	c := written{[]string{"cup", "pot"}[m.random.IntN(2)], []string{"en", "de"}[m.random.IntN(2)], 1 + m.random.IntN(5), 1}
	after = maps.Clone(before)
	after[text] = c
	return map[string]any{
		"productId": c.product, "rating": c.rating, "language": c.language, "text": text, "author": map[string]any{"id": "u1", "name": "Ada"},
	}, after
}

// add adds a comment by the server in order, and notes it as there.
func (m *mutations) add(before said) (id, text string, c written) {
	m.t.Helper()
	input, after := m.addition(before)
	id, code := m.send(m.healthy, addition, input)
	if code != "" {
		m.t.Fatalf("without a fault, it is answered by %s", code)
	}
	text = input["text"].(string)
	before[text] = after[text]
	return id, text, after[text]
}

// send sends a mutation to a server. It returns the comment's id, or the code of the first error.
func (m *mutations) send(address string, w mutation, input map[string]any) (id, code string) {
	m.t.Helper()
	var got struct {
		Result struct {
			Comment    struct{ ID string }
			UserErrors []struct{ Code string }
		}
	}
	data, codes := asks(m.t, address, map[string]any{
		"query":     `mutation ($input: ` + w.input + `!) { result: ` + w.field + `(input: $input) { comment { id } userErrors { code } } }`,
		"variables": map[string]any{"input": input},
	})
	if len(codes) > 0 {
		return "", codes[0]
	}
	must.Do(m.t, json.Unmarshal([]byte(data), &got))
	if len(got.Result.UserErrors) > 0 {
		return "", got.Result.UserErrors[0].Code
	}
	return got.Result.Comment.ID, ""
}

// Whichever call of whichever mutation meets whichever fault, the comment is there once or not at
// all, as the answer says, and a repeat makes it so. In the end, all is counted exactly.
func TestEveryCallOfEveryMutation(t *testing.T) {
	t.Parallel()
	r := commenttest.Rand(t)
	s := &site{t: t, direct: dynamotest.Dynoxide(t), table: dynamotest.TableName(t), log: &commenttest.Transcript{}}
	m := &mutations{site: s, random: r, there: said{}}
	m.healthy, _ = m.start("--endpoint", m.direct, "--table", m.table, "--create-table")
	endpoint, way, network := trapped(t)
	m.network = network
	m.spoiled, _ = m.start("--endpoint", endpoint, "--table", m.table, "--no-count")
	for _, w := range everyMutation {
		var input map[string]any
		var after said
		everyCall(t, way, network, r, 2, commenttest.Times(3, len(faulttest.Kinds)), func(when string) {
			if when != "" {
				input, after = w.prepare(m, m.there)
				m.through(w, input, after, w.name+", "+when)
			} else if w.again != "-" {
				m.repeated(w, input, after)
			}
		})
	}
	must.Do(t, m.talkback(t.Context(), m.direct, "verify"))
}

// through sends a mutation through a fault, and compares the table with the answer.
func (m *mutations) through(w mutation, input map[string]any, after said, when string) {
	m.t.Helper()
	before := m.there
	_, code := m.send(m.spoiled, w, input)
	must.Do(m.t, m.network.Flush())
	m.there = m.exported()
	happened, not := maps.Equal(m.there, after), maps.Equal(m.there, before)
	switch code {
	case "":
		if !happened {
			m.t.Errorf("%s: answered by a success, and the table differs: %s", when, m.differs(after))
		}
	case "THROTTLED", "OVERLOADED":
		if !not {
			m.t.Errorf("%s: answered by %s, and the table differs: %s", when, code, m.differs(before))
		}
	case "UNAVAILABLE", "TIMEOUT":
		if !happened && !not {
			m.t.Errorf("%s: answered by %s, and it is half done: %s", when, code, m.differs(after))
		}
	default:
		m.t.Errorf("%s: answered by %s\n%s", when, code, m.log)
	}
}

// repeated sends a mutation again without a fault, after which it has taken effect.
func (m *mutations) repeated(w mutation, input map[string]any, after said) {
	m.t.Helper()
	if _, code := m.send(m.spoiled, w, input); code != "" && code != w.again {
		m.t.Errorf("%s: sent again, it is answered by %s", w.name, code)
	}
	m.there = m.exported()
	if !maps.Equal(m.there, after) {
		m.t.Errorf("%s: sent again, the table differs: %s", w.name, m.differs(after))
	}
}

// differs tells how the table differs from what it should have.
func (m *mutations) differs(want said) string {
	return cmp.Diff(want, m.there, cmp.AllowUnexported(written{}))
}

// exported returns all comments of the table.
func (m *mutations) exported() said {
	m.t.Helper()
	out := must.Get(m.prints(m.t.Context(), m.direct, "export", "-"))(m.t)
	there := said{}
	for line := range strings.Lines(strings.TrimSpace(out)) {
		var c struct {
			Product, Language, Text string
			Rating, Version         int
		}
		must.Do(m.t, json.Unmarshal([]byte(line), &c))
		if _, twice := there[c.Text]; twice {
			m.t.Errorf("%q is there twice", c.Text)
		}
		there[c.Text] = written{c.Product, c.Language, c.Rating, c.Version}
	}
	return there
}
