package layout

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/talkback/talkback/comment"
)

// votesText returns counts as stored in items, such as "12,3".
func votesText(n comment.VoteCounts) string {
	return strconv.Itoa(n.Helpful) + "," + strconv.Itoa(n.NotHelpful)
}

// parseVotes parses the result of votesText.
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
