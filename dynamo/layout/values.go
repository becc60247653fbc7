package layout

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/talkback/talkback/comment"
)

// Version reads the version of a comment. An absent attribute means version 1.
func (r *Reader) Version() int {
	if !r.has(AttrVersion) {
		return 1
	}
	return int(r.Number(AttrVersion))
}

// CheckCell returns an error if no comment can have this language and rating.
func CheckCell(cell comment.Cell) error {
	if !comment.IsTag(string(cell.Language)) {
		return fmt.Errorf("attribute %q is no language", AttrLanguage)
	}
	if comment.CheckRating(cell.Rating) != nil {
		return fmt.Errorf("attribute %q is not a rating of 1 to %d", AttrRating, comment.MaxRating)
	}
	return nil
}

// encodeContent adds the attributes that an edit changes.
func encodeContent(out Item, c comment.Comment) {
	out[AttrLanguage] = Text(string(c.Language))
	out[AttrRating] = Number(int64(c.Rating))
	out[AttrText] = storedText(c.Text)
	if c.Title != nil {
		out[attrTitle] = Text(*c.Title)
	}
	if c.Version != 1 {
		out[AttrVersion] = Number(int64(c.Version))
	}
	if c.UpdatedAt != nil {
		out[attrUpdated] = Time(*c.UpdatedAt)
	}
	if len(c.Media) > 0 {
		out[attrPictures] = Text(mediaText(c.Media))
	}
}

// minSaved is how many bytes compression must save for a text to be stored compressed. A smaller
// saving is not worth a text that people cannot read in the table.
const minSaved = 32

// storedText returns the attribute value that stores a text: binary if compression saves at least
// minSaved bytes.
func storedText(text string) types.AttributeValue {
	if len(text) > minSaved {
		if short := compressText(text); len(short)+minSaved <= len(text) {
			return Binary(short)
		}
	}
	return Text(text)
}

// expanded reads a text that may be compressed.
func (r *Reader) expanded(attr string) string {
	text, compressed := r.TextOrBinary(attr)
	if compressed == nil {
		return text
	}
	text, err := ExpandText(compressed, comment.MaxTextBytes)
	if err != nil {
		r.fail(attr)
	}
	return text
}

// mediaText returns media as stored in attrPictures, a line for each, such as "2024/kettle.jpg
// 1600x1200 a kettle". Size and alternative text follow the path if either is known.
func mediaText(all []comment.Media) string {
	lines := make([]string, len(all))
	for i, m := range all {
		lines[i] = m.Path
		if m.Width > 0 || m.Alt != "" {
			lines[i] += fmt.Sprintf(" %dx%d", m.Width, m.Height)
		}
		if m.Alt != "" {
			lines[i] += " " + m.Alt
		}
	}
	return strings.Join(lines, "\n")
}

func (r *Reader) media() []comment.Media {
	if !r.has(attrPictures) {
		return nil
	}
	var all []comment.Media
	for line := range strings.SplitSeq(r.Text(attrPictures), "\n") {
		path, rest, sized := strings.Cut(line, " ")
		size, alt, _ := strings.Cut(rest, " ")
		m := comment.Media{Path: path, Alt: alt}
		if sized {
			width, height, _ := strings.Cut(size, "x")
			var wrong, wrongToo error
			m.Width, wrong = strconv.Atoi(width)
			m.Height, wrongToo = strconv.Atoi(height)
			if wrong != nil || wrongToo != nil {
				r.fail(attrPictures)
			}
		}
		all = append(all, m)
	}
	if comment.CheckMedia(all) != nil {
		r.fail(attrPictures)
	}
	return all
}

// votesText returns counts as stored in items, such as "12,3".
func votesText(n comment.VoteCounts) string {
	return strconv.Itoa(n.Helpful) + "," + strconv.Itoa(n.NotHelpful)
}

func parseVotes(text string) (n comment.VoteCounts, err error) {
	helpful, not, _ := strings.Cut(text, ",")
	var unreadable error
	n.Helpful, err = strconv.Atoi(helpful)
	if n.NotHelpful, unreadable = strconv.Atoi(not); err != nil || unreadable != nil || min(n.Helpful, n.NotHelpful) < 0 {
		return comment.VoteCounts{}, errors.New("not two numbers of votes")
	}
	return n, nil
}

// votes reads counts; 0 if the item lacks them.
func (r *Reader) votes(attr string) comment.VoteCounts {
	if !r.has(attr) {
		return comment.VoteCounts{}
	}
	n, err := parseVotes(r.Text(attr))
	if err != nil {
		r.fail(attr)
	}
	return n
}

// helpfulPlace returns the sort key of a comment in the index ByHelpful: comments with more net
// votes sort after those with fewer, and newer ones after older ones.
func helpfulPlace(id comment.ID, n comment.VoteCounts) string {
	return placeText(comment.MostHelpful.PlaceOf(comment.Comment{ID: id, Votes: n}))
}

func placeText(p comment.Place) string { return fmt.Sprintf("%010d#%s", p.Key, p.Position) }

// CheckHelpful returns an error unless the sort key of an entry in the index ByHelpful matches its
// votes. At a wrong place, the entry would hide others.
func CheckHelpful(entry Item, c comment.Comment) error {
	if NewReader(entry).Text(attrHelpful) == placeText(comment.MostHelpful.PlaceOf(c)) {
		return nil
	}
	return fmt.Errorf("item of comment %s: attribute %q is not the place of its votes", c.ID, attrHelpful)
}
