package layout

import (
	"errors"
	"maps"
	"strconv"
	"strings"
	"time"

	"github.com/talkback/talkback/comment"
)

// Items of votes: one for each customer, beside the comment. They are in no list.
const (
	attrVote = "vote" // S, a letter of voteLetters

	// VoteSKPrefix starts the sort key of a vote. A hash of the customer follows, whose first digit is
	// the vote's slice.
	VoteSKPrefix = "V#"
	// VoteSumsSK is the sort key of the sums of slices of a comment with many votes.
	VoteSumsSK = "T"
	attrSums   = "sums"    // S, the counts of each slice
	attrSteps  = "changes" // N, rises with each write; in a comment's item with each total
)

// VoteSlices is how many slices the votes of a comment are split into.
const VoteSlices = 16

// VoteKey returns the primary key of a vote, from a hash of the customer in lower-case hexadecimal.
func VoteKey(id comment.ID, hash string) Item { return Key(commentPK(id), VoteSKPrefix+hash) }

// voteLetters has the letters of votes. A withdrawn vote leaves an item for keepUndone, by which a
// late write of the vote is refused.
var voteLetters = map[comment.Vote]string{comment.Helpful: "h", comment.NotHelpful: "n", comment.NoVote: "0"}

const keepUndone = 24 * time.Hour

// VoteItem returns the item of a vote. AttrWriter finds it for the export and the erasure of the
// customer.
func VoteItem(id comment.ID, hash string, v comment.CastVote) Item {
	out := VoteKey(id, hash)
	out[AttrWriter] = WriterOfReport(v.By)
	out[attrVote], out[attrWritten] = Text(voteLetters[v.Vote]), Time(v.At)
	if v.Vote == comment.NoVote {
		out[AttrTTL] = Number(v.At.Add(keepUndone).Unix())
	}
	return out
}

// VoteCast is the attribute with the time when a vote was cast.
const VoteCast = attrWritten

// VoteProjection is the projection expression for CountVote.
const VoteProjection = AttrSK + "," + attrVote

// CountVote adds the vote of an item to counts. An item that is no vote adds nothing.
func CountVote(it Item, to *comment.VoteCounts) { to.Add(voteOf(NewReader(it)), 1) }

// voteOf reads a vote; empty for an unknown letter.
func voteOf(r *Reader) comment.Vote {
	letter := r.Text(attrVote)
	for vote, its := range voteLetters {
		if its == letter {
			return vote
		}
	}
	return ""
}

// DecodeVote decodes a vote, and returns the ID of its comment. It returns an error for an item
// that is no vote.
func DecodeVote(it Item) (comment.ID, comment.CastVote, error) {
	r := NewReader(it)
	id, isID := r.id()
	by, isVote := strings.CutPrefix(r.Text(AttrWriter), writerOfReport)
	v := comment.CastVote{By: by, Vote: voteOf(r), At: r.Time(attrWritten)}
	if err := r.Err(); err != nil {
		return id, v, err
	}
	if !isID || !isVote || v.Vote == "" || !strings.HasPrefix(r.Text(AttrSK), VoteSKPrefix) {
		return id, v, errors.New("it is not a vote about a comment")
	}
	return id, v, nil
}

// VoteSlice returns the slice of a vote from its key, and whether it is the key of a vote.
func VoteSlice(key Item) (slice int, isVote bool) {
	hash, isVote := strings.CutPrefix(NewReader(key).Text(AttrSK), VoteSKPrefix)
	if !isVote || hash == "" {
		return 0, false
	}
	digit, err := strconv.ParseUint(hash[:1], VoteSlices, 8)
	return int(digit), err == nil
}

// VoteSlicePrefix returns the prefix of the sort keys of a slice's votes.
func VoteSlicePrefix(slice int) string {
	return VoteSKPrefix + strconv.FormatUint(uint64(slice), VoteSlices)
}

// VoteSums are the counts of each slice of a comment's votes, in an item of their own.
type VoteSums struct {
	// Slices has the counts.
	Slices [VoteSlices]comment.VoteCounts
	// Changes rises with each write; 0 if there is no item.
	Changes int64
}

// VoteSumsKey returns the primary key of the sums of a comment.
func VoteSumsKey(id comment.ID) Item { return Key(commentPK(id), VoteSumsSK) }

// Total returns the sum of all slices.
func (s VoteSums) Total() (total comment.VoteCounts) {
	for _, slice := range s.Slices {
		total = total.Plus(slice)
	}
	return total
}

// Item returns the item of sums with the next number of changes, and the condition that the item is
// still as the sums were read.
func (s VoteSums) Item(id comment.ID) (it Item, condition string, values Item) {
	counts := make([]string, VoteSlices)
	for i, slice := range s.Slices {
		counts[i] = votesText(slice)
	}
	it = VoteSumsKey(id)
	it[attrSums], it[attrSteps] = Text(strings.Join(counts, " ")), Number(s.Changes+1)
	if s.Changes == 0 {
		return it, IfAbsent, nil
	}
	return it, attrSteps + " = :changes", Item{":changes": Number(s.Changes)}
}

// DecodeVoteSums decodes the sums of a comment; zero for an empty item. For unreadable sums it
// returns zeros and an error; all slices then have to be counted.
func DecodeVoteSums(it Item) (s VoteSums, err error) {
	if len(it) == 0 {
		return s, nil
	}
	r := NewReader(it)
	s.Changes = r.Number(attrSteps)
	counts := strings.Fields(r.Text(attrSums))
	if r.Err() != nil || s.Changes < 1 || len(counts) != VoteSlices {
		return VoteSums{Changes: s.Changes}, errors.New("the sums of votes cannot be read")
	}
	for i, text := range counts {
		if s.Slices[i], err = parseVotes(text); err != nil {
			return VoteSums{Changes: s.Changes}, err
		}
	}
	return s, nil
}

// voteAttrs names the attributes of a comment that hold votes or are derived from them, the traits
// included.
var voteAttrs = []string{attrImported, attrVotes, attrHelpful, AttrTraits}

// VotesOf has the numbers of votes in a comment's item.
type VotesOf struct {
	// Shown is the number of votes shown, and Imported that with which the comment was imported.
	// Unreadable numbers are 0.
	Shown, Imported comment.VoteCounts

	item Item
}

// CommentVotesProjection is the projection expression for ReadVotes and DecodeVoteSums.
var CommentVotesProjection = strings.Join(append([]string{AttrPK, AttrSK, AttrDeleted, AttrAll, attrProduct, AttrState, attrSums, attrSteps}, voteAttrs...), ",")

// ReadVotes reads the votes of a comment's item.
func ReadVotes(it Item) VotesOf {
	r := NewReader(it)
	return VotesOf{Shown: r.votes(attrVotes), Imported: NewReader(it).votes(attrImported), item: it}
}

// HasVotes reports whether a comment's item has numbers of votes, or a place in ByHelpful.
func HasVotes(it Item) bool {
	return it[attrVotes] != nil || it[attrImported] != nil || it[attrHelpful] != nil
}

// Update returns the update expression by which a comment shows its imported votes plus those
// counted here. condition is that the attributes of votes are as they were read, with a number that
// rises, since a late write may find an earlier total again. The expression is empty if nothing
// changes.
func (v VotesOf) Update(counted comment.VoteCounts) (update, condition string, values Item) {
	id := IDOfKey(v.item)
	shown, have := v.Imported.Plus(counted), Item{}
	for _, attr := range voteAttrs {
		have[attr] = v.item[attr]
	}
	want := followsVotes(v.item, id, shown)
	want[attrImported] = v.item[attrImported]
	if shown != (comment.VoteCounts{}) {
		want[attrVotes] = Text(votesText(shown))
	}
	if update, _ = Update(have, want); update == "" {
		return "", "", nil
	}
	have[attrSteps], want[attrSteps] = v.item[attrSteps], Number(NewReader(v.item).OptionalNumber(attrSteps)+1)
	update, values = Update(have, want)
	return update, SameVersion(0, values) + " AND " + SameAttrs(have, values, append(voteAttrs, attrSteps)...), values
}

// helpfulKeys returns the correct attributes that are derived from an item's votes.
func helpfulKeys(it Item, id comment.ID) Item { return followsVotes(it, id, ReadVotes(it).Shown) }

// followsVotes returns the attributes that are derived from the votes that an item shows.
func followsVotes(it Item, id comment.ID, shown comment.VoteCounts) Item {
	out, traits := Item{}, comment.ParseTraits(NewReader(it).Text(AttrTraits))&^comment.IsHelpful
	if shown.Net() > 0 {
		out[attrHelpful] = Text(helpfulPlace(id, shown))
		traits |= comment.IsHelpful
	}
	if traits != 0 {
		out[AttrTraits] = Text(traits.String())
	}
	return out
}

// Casts reports whether a vote's item holds the given vote, cast at the same time.
func Casts(it Item, v comment.CastVote) bool {
	_, there, err := DecodeVote(it)
	return err == nil && there.Vote == v.Vote && there.At.Equal(v.At.Truncate(time.Millisecond))
}

// WithVotesOf returns a comment's item from a copy of the table with other numbers of votes: those
// imported, according to the copy, plus those counted in this table, according to there.
func WithVotesOf(copied, there Item) Item {
	shown, out := ReadVotes(copied).Imported.Plus(countedHere(there)), maps.Clone(copied)
	delete(out, attrVotes)
	delete(out, attrSteps)
	if there[attrSteps] != nil {
		out[attrSteps] = there[attrSteps] // it never falls
	}
	if shown != (comment.VoteCounts{}) {
		out[attrVotes] = Text(votesText(shown))
	}
	follow := helpfulKeys(out, IDOfKey(copied)) // from the copied traits
	delete(out, attrHelpful)
	delete(out, AttrTraits)
	maps.Copy(out, follow)
	return out
}

// countedHere returns the votes that were counted in this table, according to a comment's item.
func countedHere(it Item) comment.VoteCounts {
	votes := ReadVotes(it)
	return comment.VoteCounts{
		Helpful:    max(0, votes.Shown.Helpful-votes.Imported.Helpful),
		NotHelpful: max(0, votes.Shown.NotHelpful-votes.Imported.NotHelpful),
	}
}

// OfLine returns a comment's item from a line of an export, in place of the item there. A line has
// the total of all votes, also of those that were counted in this table. What no line has stays: by
// the import that added a comment, --undo finds it, and by the marks of an edit and of a deleted
// reply whether it was changed since. By the hash of its idempotency key, an erasure finds the key.
func OfLine(line, there Item) Item {
	line = maps.Clone(line)
	total, counted := ReadVotes(line).Imported, countedHere(there)
	rest := comment.VoteCounts{Helpful: max(0, total.Helpful-counted.Helpful), NotHelpful: max(0, total.NotHelpful-counted.NotHelpful)}
	if delete(line, attrImported); rest != (comment.VoteCounts{}) {
		line[attrImported] = Text(votesText(rest))
	}
	kept := []string{AttrImport, AttrMark, AttrKeyHash}
	if reply, version, _ := ReplyOf(there); reply == nil && version > 0 && line[attrReply] == nil {
		kept = append(kept, attrReply)
	}
	for _, attr := range kept {
		if there[attr] != nil {
			line[attr] = there[attr]
		}
	}
	return WithVotesOf(line, there)
}
