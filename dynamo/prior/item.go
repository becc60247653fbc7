package prior

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/layout"
)

// The item of what was learnt. It is JSON in one attribute, about a kilobyte, for people and
// programs to read, and hints on large products in another, at most 12 KB. A release that stores
// something else uses another sort key, so that servers of both releases can run together.
const (
	itemPK      = "PLANS"
	itemSK      = "PRIOR#1"
	attrTally   = "tally"   // S
	attrLarge   = "hints"   // B, on products with many comments: large.encode
	attrChanges = "changes" // N, rises with every write
)

func itemKey() layout.Item { return layout.StreamKey(itemPK, itemSK) }

// stored is the item as it was read.
type stored struct {
	tally tally
	// changes is the attribute as it was read, nil if there is none.
	changes types.AttributeValue
}

// decode reads the item. An empty one holds nothing. With an error comes an empty tally that can
// replace the damaged one.
func decode(item layout.Item) (stored, error) {
	s := stored{changes: item[attrChanges]}
	if len(item) == 0 {
		return s, nil
	}
	r := layout.NewReader(item)
	text := r.Text(attrTally)
	if err := r.Err(); err != nil {
		return s, err
	}
	var read tally
	if err := json.Unmarshal([]byte(text), &read); err != nil {
		return s, errors.New("its JSON is damaged") // the error may quote what someone wrote
	}
	if err := read.check(); err != nil {
		return s, err
	}
	if hints, ok := item[attrLarge].(*types.AttributeValueMemberB); ok {
		var err error
		if read.Large, err = decodeLarge(hints.Value, read.numbered()); err != nil {
			return s, err
		}
	}
	s.tally = read.bounded()
	return s, nil
}

// encode returns the item, with a number of changes above the one read before.
func encode(t tally, before stored) (layout.Item, error) {
	text, err := json.Marshal(t.rounded())
	if err != nil {
		return nil, err
	}
	changes, _ := layout.ParseNumber(before.changes)
	item := itemKey()
	item[attrTally] = layout.Text(string(text))
	if len(t.Large) > 0 {
		item[attrLarge] = layout.Binary(t.Large.largest().encode(t.numbered()))
	}
	item[attrChanges] = layout.Number(max(0, changes) + 1)
	return item, nil
}

// numbered are the languages of the item, in the order of their tags: hints name them by number.
func (t tally) numbered() []comment.Language { return slices.Sorted(maps.Keys(t.Languages.Shares)) }

// unchanged returns the condition that the item is as it was read.
func (s stored) unchanged() (condition string, values layout.Item) {
	if s.changes == nil {
		return "attribute_not_exists(" + attrChanges + ")", nil
	}
	return attrChanges + " = :before", layout.Item{":before": s.changes}
}

// most bounds the numbers of an item.
const most = 1e12

// check returns an error unless the tally can be one: each number is at least 0, and no part is more
// than its whole.
func (t tally) check() error {
	for b, tested := range t.Products.Tested {
		if !within(t.Products.Ended[b], tested) || !within(tested, most) {
			return errors.New("its numbers of comments are impossible")
		}
	}
	if !within(t.Products.Products, most) {
		return errors.New("its number of products is impossible")
	}
	if err := t.Ratings.check("rating", func(rating int) bool { return comment.CheckRating(rating) == nil }); err != nil {
		return err
	}
	if err := t.Languages.check("language", func(l comment.Language) bool { return comment.IsTag(string(l)) }); err != nil {
		return err
	}
	for i, l := range t.Lengths {
		mean := l.Mean / l.Votes
		if l != (length{}) && !(within(l.Votes, most) && mean >= leastMean/2 && mean <= 2*mostMean && within(l.Square, 4*mostMean*mostMean*l.Votes)) {
			return fmt.Errorf("its sizes of comments of rating %d are impossible", i)
		}
	}
	return nil
}

// check returns an error unless the mixture can be one of kinds that are allowed.
func (m mixture[K]) check(kind string, allowed func(K) bool) error {
	sum := 0.0
	for k, share := range m.Shares {
		if !allowed(k) || !within(share, m.Votes*1.01) {
			return fmt.Errorf("a %s of it is impossible", kind)
		}
		sum += share
	}
	if !within(m.Votes, most) || !within(sum, m.Votes*1.01) || !within(m.Pairs, m.Votes*1.01) || !within(m.Alike, m.Pairs*1.01) {
		return fmt.Errorf("its mixture of each %s is impossible", kind)
	}
	return nil
}

// within reports whether a number is at least 0 and at most so much. Not a number is not.
func within(n, most float64) bool { return n >= 0 && n <= most }

// rounded returns the tally with numbers of four digits, which keeps the item small.
func (t tally) rounded() tally {
	t.Products.Products = round(t.Products.Products)
	for b := range t.Products.Tested {
		t.Products.Tested[b], t.Products.Ended[b] = round(t.Products.Tested[b]), round(t.Products.Ended[b])
	}
	t.Ratings, t.Languages = t.Ratings.rounded(), t.Languages.rounded()
	for i, l := range t.Lengths {
		t.Lengths[i] = length{round(l.Votes), round(l.Mean), round(l.Square)}
	}
	return t
}

func (m mixture[K]) rounded() mixture[K] {
	m.Shares = maps.Clone(m.Shares)
	m.Votes, m.Pairs, m.Alike = round(m.Votes), round(m.Pairs), round(m.Alike)
	for kind, share := range m.Shares {
		m.Shares[kind] = round(share)
	}
	return m
}

// round rounds to four digits.
func round(n float64) float64 {
	if n == 0 || math.IsInf(n, 0) || math.IsNaN(n) {
		return 0
	}
	rounded, err := strconv.ParseFloat(strconv.FormatFloat(n, 'g', 4, 64), 64)
	if err != nil {
		return n
	}
	return rounded
}
