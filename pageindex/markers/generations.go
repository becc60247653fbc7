package markers

import (
	"context"
	"crypto/rand"
	"errors"
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
	in, err := s.get(ctx, generationsKey(), nil)
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

// ensureCurrent returns the generations, and creates a current one if there is none.
func (s *Store) ensureCurrent(ctx context.Context) (generations, error) {
	g, err := s.generations(ctx)
	if err != nil || g.current != "" {
		return g, err
	}
	err = s.swap(ctx, "SET #c = :new", "attribute_not_exists(#c)", map[string]string{"#c": attrCurrent}, layout.Item{":new": layout.Text(rand.Text())})
	if err != nil && !errors.Is(err, errSwapped) {
		return g, err
	}
	return s.generations(ctx)
}

// errSwapped means that the generations have changed since they were read.
var errSwapped = errors.New("the generations were changed meanwhile")

// swap changes the generations on a condition.
func (s *Store) swap(ctx context.Context, update, condition string, names map[string]string, values layout.Item) error {
	_, err := s.client.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName: aws.String(s.table), Key: generationsKey(),
		UpdateExpression: aws.String(update), ConditionExpression: aws.String(condition),
		ExpressionAttributeNames: names, ExpressionAttributeValues: values,
	})
	if call.Refused(err) {
		return errSwapped
	}
	return call.Wrap(err, "UpdateItem of generations of page markers")
}

// begin starts a new generation, in place of one that is being built.
func (s *Store) begin(ctx context.Context) (string, error) {
	name := rand.Text()
	for {
		g, err := s.ensureCurrent(ctx)
		if err != nil {
			return "", err
		}
		names, values := map[string]string{"#b": attrBuilding}, layout.Item{":new": layout.Text(name)}
		update, condition := "SET #b = :new", "attribute_not_exists(#b)"
		if g.building != "" {
			names["#o"] = attrOld
			values[":was"], values[":old"] = layout.Text(g.building), setOf(g.building)
			update, condition = update+" ADD #o :old", "#b = :was"
		}
		switch err := s.swap(ctx, update, condition, names, values); {
		case !errors.Is(err, errSwapped):
			return name, err
		case ctx.Err() != nil:
			return "", ctx.Err()
		}
		if g, err = s.generations(ctx); err != nil || g.building == name {
			return name, err // by an earlier attempt, whose answer was lost
		}
	}
}

// finish makes a generation the current one, if it is still being built.
func (s *Store) finish(ctx context.Context, name, covers string) error {
	g, err := s.generations(ctx)
	if err != nil {
		return err
	}
	err = errSwapped
	if g.building == name {
		err = s.swap(ctx, "SET #c = :new, #f = :covers REMOVE #b ADD #o :old", "#b = :new AND #c = :was",
			map[string]string{"#c": attrCurrent, "#f": attrCovers, "#b": attrBuilding, "#o": attrOld},
			layout.Item{":new": layout.Text(name), ":covers": layout.Text(covers), ":was": layout.Text(g.current), ":old": setOf(g.current)})
	}
	if !errors.Is(err, errSwapped) {
		return err
	}
	if g, err = s.generations(ctx); err != nil || g.current == name && g.covers == covers {
		return err // by an earlier attempt, whose answer was lost
	}
	return errOvertaken
}

var errOvertaken = comment.Errorf(comment.Conflict, "this build of page markers has ended: another one has begun, or the table was emptied")

func setOf(text string) types.AttributeValue {
	return &types.AttributeValueMemberSS{Value: []string{text}}
}

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
// header lists the cells.
func (s *Store) deleteProduct(ctx context.Context, p generationProduct) error {
	h, err := s.header(ctx, p, nil)
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
	for output, err := range call.Answers(ctx, s.client, &dynamodb.QueryInput{
		TableName: aws.String(s.table), ConsistentRead: aws.Bool(true),
		KeyConditionExpression:    aws.String(layout.AttrPK + " = :pk"),
		ExpressionAttributeValues: layout.Item{":pk": layout.Text(pk)},
		ProjectionExpression:      aws.String(layout.AttrPK + "," + layout.AttrSK),
	}, "old page markers") {
		if err == nil {
			err = do(output.Items)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
