package layout

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/talkback/talkback/comment"
)

// indexAttrs names the derived attributes of a comment: its list keys, or its product while it is
// in no list; its places in the queue and in ByHelpful; and its traits.
var indexAttrs = []string{AttrAll, attrByLang, attrByRating, attrByLangAndRating, attrMedia, attrProduct, AttrBoard, AttrPlace, attrHelpful, AttrTraits}

// IndexProjection is the projection expression for IndexKeysOf.
var IndexProjection = strings.Join(append(slices.Clone(indexAttrs), AttrPK, AttrSK, AttrLanguage, AttrRating, AttrState, AttrReports, attrPictures, attrVotes, attrImported,
	attrHeldEdit+"."+AttrVersion, attrHeldEdit+"."+attrUpdated), ",")

// IndexKeys has the index keys of a comment's item, and what they should be.
type IndexKeys struct {
	// ID is the id of the comment, and ProductID that of its product.
	ID        comment.ID
	ProductID string
	// Status is its state.
	Status comment.Status

	have, want Item
}

// IndexKeysOf reads the keys of a comment's item. It returns an error if they cannot be derived,
// such as that of ProductOf.
func IndexKeysOf(it Item) (IndexKeys, error) {
	product, err := ProductOf(it)
	if err != nil {
		return IndexKeys{}, err
	}
	r := NewReader(it)
	status, _, ok := parseState(r.OptionalText(AttrState))
	id, isID := r.id()
	switch {
	case !ok || r.Err() != nil:
		return IndexKeys{}, fmt.Errorf("attribute %q is no state", AttrState)
	case !isID:
		return IndexKeys{}, errors.New("its key is not the key of a comment")
	}
	cell := NewReader(it)
	c := comment.Comment{ID: id, ProductID: product, Status: status, Language: comment.Language(cell.Text(AttrLanguage)), Rating: int(cell.Number(AttrRating))}
	if err := cmp.Or(cell.Err(), CheckCell(c.Cell())); err != nil {
		return IndexKeys{}, err
	}
	if it[attrPictures] != nil {
		c.Media = []comment.Media{{}} // only their presence matters
	}
	c.Moderation = reasonToWait(it, status)
	encoded, want := Encode(c.InQueue()), helpfulKeys(it, id)
	for _, attr := range indexAttrs {
		if encoded[attr] != nil && attr != AttrTraits {
			want[attr] = encoded[attr]
		}
	}
	return IndexKeys{ID: id, ProductID: product, Status: status, have: it, want: want}, nil
}

// reasonToWait returns the held edit of an item, with only its time, and the item's place in the
// queue if it has reason to wait for a moderator.
func reasonToWait(it Item, status comment.Status) *comment.Moderation {
	m := &comment.Moderation{}
	if edit, ok := it[attrHeldEdit].(*types.AttributeValueMemberM); ok && status == comment.Approved {
		m.HeldEdit = &comment.HeldEdit{At: NewReader(edit.Value).Time(attrUpdated)}
	}
	r := NewReader(it)
	place, err := ParseWaiting(r.OptionalText(AttrPlace))
	reported := status == comment.Approved && r.OptionalNumber(AttrReports) > 0 && slices.Contains(place.Reasons, comment.HeldReported)
	if err == nil && (status == comment.Pending || m.HeldEdit != nil || reported) {
		m.Held, m.Since = place.Reasons, place.Since
	}
	return m
}

// Wrong returns the names of the attributes with wrong values.
func (k IndexKeys) Wrong() []string {
	return slices.DeleteFunc(slices.Clone(indexAttrs), func(attr string) bool { return reflect.DeepEqual(k.have[attr], k.want[attr]) })
}

// InLists reports whether the item has any list key.
func (k IndexKeys) InLists() bool {
	return slices.ContainsFunc(ListIndexes(), func(index Index) bool { return k.have[index.PartitionAttr()] != nil })
}

// InQueue reports whether the item has a place in the queue. Waits reports whether it should.
func (k IndexKeys) InQueue() bool { return k.have[AttrBoard] != nil || k.have[AttrPlace] != nil }

// Waits reports whether the comment waits for a moderator, and so belongs in the queue.
func (k IndexKeys) Waits() bool { return k.want[AttrBoard] != nil }

// Correction returns the update expression that corrects the keys, and the condition that the
// attributes from which they are derived are unchanged.
func (k IndexKeys) Correction() (update, condition string, values Item) {
	have := Item{}
	for _, attr := range indexAttrs {
		if k.have[attr] != nil {
			have[attr] = k.have[attr]
		}
	}
	update, values = Update(have, k.want)
	depends := append(slices.Clone(indexAttrs), AttrLanguage, AttrRating, AttrState, AttrReports, attrPictures, attrVotes)
	condition = SameVersion(0, values) + " AND " + SameAttrs(k.have, values, depends...)
	if k.have[attrHeldEdit] == nil {
		return update, condition + " AND attribute_not_exists(" + attrHeldEdit + ")", values
	}
	return update, condition + " AND attribute_exists(" + attrHeldEdit + ")", values
}
