package layout

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/talkback/talkback/comment"
)

// indexAttrs are the attributes that follow from the rest of a comment: its keys of lists, or its
// product while it is in none, its place in the queue, and its place among helpful ones with the
// letter for that.
var indexAttrs = []string{AttrAll, attrByLang, attrByRating, attrByLangAndRating, attrMedia, attrProduct, AttrBoard, AttrPlace, attrHelpful, AttrTraits}

// IndexProjection is the projection expression of what IndexKeys reads.
var IndexProjection = strings.Join(append(slices.Clone(indexAttrs), AttrPK, AttrSK, AttrLanguage, AttrRating, AttrState, AttrReports, attrPictures, attrVotes, attrImported,
	attrHeldEdit+"."+AttrVersion, attrHeldEdit+"."+attrUpdated), ",")

// IndexKeys is what the index keys of a comment's item are, and what they should be.
type IndexKeys struct {
	// ID is the comment, ProductID its product.
	ID        comment.ID
	ProductID string
	// Status is its state.
	Status comment.Status

	have, want Item
}

// IndexKeysOf reads the keys of a comment's item. It returns an error for an item whose keys cannot
// be derived, as that of ProductOf.
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
	if err := cell.Err(); err != nil {
		return IndexKeys{}, err
	}
	if err := CheckCell(c.Cell()); err != nil {
		return IndexKeys{}, err
	}
	if it[attrPictures] != nil {
		c.Media = []comment.Media{{}} // whatever they are
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

// reasonToWait returns the held edit of an item, and why it waits for a moderator, if it has a
// reason to. Of the edit it holds the time alone.
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

// Wrong returns the names of the attributes that are not as they should be.
func (k IndexKeys) Wrong() []string {
	return slices.DeleteFunc(slices.Clone(indexAttrs), func(attr string) bool { return reflect.DeepEqual(k.have[attr], k.want[attr]) })
}

// InLists reports whether the item has a key of a list.
func (k IndexKeys) InLists() bool {
	return slices.ContainsFunc(ListIndexes(), func(index Index) bool { return k.have[index.PartitionAttr()] != nil })
}

// InQueue reports whether the item has a place in the queue, and Waits whether it should.
func (k IndexKeys) InQueue() bool { return k.have[AttrBoard] != nil || k.have[AttrPlace] != nil }

// Waits reports whether the comment waits for a moderator.
func (k IndexKeys) Waits() bool { return k.want[AttrBoard] != nil }

// Correction returns the expression by which UpdateItem makes the keys what they should be, on
// condition that nothing that they follow from has changed.
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
