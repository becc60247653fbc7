package markers

import (
	"cmp"
	"context"
	"crypto/rand"
	"reflect"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/call"
	"github.com/talkback/talkback/dynamo/layout"
)

// The store has one content that answers and, during a build, a second one. Each has a unique name,
// its generation. One item names both.
const (
	attrCurrent  = "current"  // S, generation that answers
	attrBuilding = "building" // S, generation of the build under way; missing for none
	attrCovers   = "covers"   // S, what the current generation is complete for; missing for nothing
	attrOld      = "old"      // SS, generations to delete; missing for none
)

type generations struct {
	current, building, covers string
	old                       []string
}

// used returns the generations that Apply writes to.
func (g generations) used() []string {
	return slices.DeleteFunc([]string{g.current, g.building}, func(name string) bool { return name == "" })
}

func generationsKey() layout.Item { return layout.Key(pkPrefix, generationsSK) }

func (s *Store) generations(ctx context.Context) (generations, error) {
	in, err := s.get(ctx, generationsKey())
	if err != nil {
		return generations{}, err
	}
	r := layout.NewReader(in)
	g := generations{current: r.OptionalText(attrCurrent), building: r.OptionalText(attrBuilding), covers: r.OptionalText(attrCovers)}
	if old, ok := in[attrOld].(*types.AttributeValueMemberSS); ok {
		g.old = old.Value
	}
	return g, r.Err()
}

func (g generations) encode() layout.Item {
	out := generationsKey()
	for name, text := range map[string]string{attrCurrent: g.current, attrBuilding: g.building, attrCovers: g.covers} {
		if text != "" {
			out[name] = layout.Text(text)
		}
	}
	if len(g.old) > 0 {
		out[attrOld] = &types.AttributeValueMemberSS{Value: g.old}
	}
	return out
}

// change replaces the generations by what next makes of them, and returns these. It starts over
// when another process begins or finishes a build meanwhile. So next must recognize its own result,
// if the answer to a write was lost. A change of old alone is not noticed: a generation that
// another process has just deleted may be deleted again.
func (s *Store) change(ctx context.Context, next func(generations) (generations, error)) (generations, error) {
	for {
		was, err := s.generations(ctx)
		if err != nil {
			return was, err
		}
		g, err := next(was)
		if err != nil || reflect.DeepEqual(g, was) {
			return g, err
		}
		input := &dynamodb.PutItemInput{TableName: aws.String(s.table), Item: g.encode(), ConditionExpression: aws.String(layout.IfAbsent)}
		if was.current != "" {
			input.ExpressionAttributeNames = map[string]string{"#c": attrCurrent} // it is a reserved word
			input.ExpressionAttributeValues = layout.Item{":c": layout.Text(was.current)}
			input.ConditionExpression = aws.String("#c = :c AND " + layout.SameAttrs(was.encode(), input.ExpressionAttributeValues, attrBuilding))
		}
		_, err = s.client.PutItem(ctx, input)
		if !call.Refused(err) {
			return g, call.Wrap(err, "PutItem of generations of page markers")
		}
	}
}

// ensureCurrent returns the generations, and creates a current one if there is none.
func (s *Store) ensureCurrent(ctx context.Context) (generations, error) {
	return s.change(ctx, func(g generations) (generations, error) {
		if g.current == "" {
			g.current = rand.Text()
		}
		return g, nil
	})
}

// begin starts a new generation, in place of one that is being built.
func (s *Store) begin(ctx context.Context) (generations, error) {
	name := rand.Text()
	return s.change(ctx, func(g generations) (generations, error) {
		if g.building != "" && g.building != name {
			g.old = append(slices.Clone(g.old), g.building)
		}
		g.current, g.building = cmp.Or(g.current, rand.Text()), name
		return g, nil
	})
}

// finish makes a generation the current one, if it is still being built.
func (s *Store) finish(ctx context.Context, name, covers string) (generations, error) {
	return s.change(ctx, func(g generations) (generations, error) {
		switch {
		case g.building == name:
			return generations{current: name, covers: covers, old: append(slices.Clone(g.old), g.current)}, nil
		case g.current == name && g.covers == covers: // by an earlier attempt, whose answer was lost
			return g, nil
		}
		return g, errOvertaken
	})
}

var errOvertaken = comment.Errorf(comment.Conflict, "this build of page markers has ended: another one has begun, or the table was emptied")

// Products implements pageindex.Store.
func (s *Store) Products(ctx context.Context, tell func(product string)) error {
	g, err := s.generations(ctx)
	if err != nil || g.current == "" {
		return err
	}
	return s.eachKey(ctx, pkPrefix+g.current, func(keys []layout.Item) error {
		for _, key := range keys {
			tell(layout.NewReader(key).Text(layout.AttrSK))
		}
		return nil
	})
}

// Covers implements pageindex.Store.
func (s *Store) Covers(ctx context.Context) (string, error) {
	g, err := s.generations(ctx)
	return g.covers, err
}

// deleteProduct deletes everything of a product in a generation, its header last: until then, the
// header lists the cells. Before that it gives the header another version, which a lookup under way
// notices.
func (s *Store) deleteProduct(ctx context.Context, p generationProduct) error {
	var h header
	err := call.Retry(ctx, func() (progress bool, err error) {
		if h, err = s.header(ctx, p); err == nil && h.version != "" {
			err = call.Transact(ctx, s.client, headerWrites(p, h, h))
		}
		return false, err
	})
	if err != nil {
		return err
	}
	partitions := []string{p.pk()}
	for _, cell := range h.names() {
		partitions = append([]string{p.cellPK(cell)}, partitions...)
	}
	for _, pk := range partitions {
		// A header goes last: it sorts behind the other items of its partition.
		if err := s.eachKey(ctx, pk, func(keys []layout.Item) error { return call.DeleteAll(ctx, s.client, s.table, keys) }); err != nil {
			return err
		}
	}
	return call.DeleteAll(ctx, s.client, s.table, []layout.Item{p.productKey()})
}

// eachKey passes on the keys of a partition, page by page.
func (s *Store) eachKey(ctx context.Context, pk string, do func(keys []layout.Item) error) error {
	input := call.PartitionInput(s.table, layout.Text(pk), "")
	input.ProjectionExpression = aws.String(layout.AttrPK + "," + layout.AttrSK)
	for output, err := range call.Answers(ctx, s.client, input, "old page markers") {
		if err == nil {
			err = do(output.Items)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
