package reviewfile

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/talkback/talkback/comment"
)

// statusWord is a status and the words for it.
type statusWord struct {
	status comment.Status
	words  []string
}

// statusWords are normalized words for a status in exports of other systems: Shopify, Judge.me,
// Yotpo, Okendo, Trustpilot, Bazaarvoice, Magento and WooCommerce.
var statusWords = []statusWord{
	{comment.Approved, []string{"approved", "published", "visible", "live", "active", "ok", "true", "yes", "1"}},
	{comment.Pending, []string{"pending", "notyet", "unpublished", "submitted", "new", "inmoderation", "hold", "false", "no", "0"}},
	{comment.Rejected, []string{"rejected", "hidden", "declined", "disapproved", "notapproved", "archived", "trash", "posttrashed"}},
	{comment.Rejected, []string{spamWord}},
	{comment.Withdrawn, []string{"withdrawn"}},
}

// spamWord is the only word for a rejected review that states the reason.
const spamWord = "spam"

// setStatus sets the status of a comment from a word in a file. No word means approved. A pending
// comment waits for a moderator. So does an unpublished one: perhaps no moderator has decided.
func setStatus(c *comment.Comment, word string) error {
	if word == "" {
		return nil
	}
	at := slices.IndexFunc(statusWords, func(s statusWord) bool { return slices.Contains(s.words, plain(word)) })
	if at < 0 {
		var all []string
		for _, s := range statusWords {
			all = append(all, s.words...)
		}
		return fmt.Errorf("the status %.20q is not known; the words are: %s; leave the column out by --map status=", word, strings.Join(all, ", "))
	}
	c.Status = statusWords[at].status
	if c.Status != comment.Approved {
		c.Moderation = &comment.Moderation{}
	}
	if c.Status == comment.Rejected {
		reason := comment.OtherReason
		if plain(word) == spamWord {
			reason = comment.Spam
		}
		c.Moderation.Reason = &reason
	}
	*c = c.InQueue()
	return nil
}

// Normalized words for and against a verified purchase in exports of other systems.
var (
	verifiedWords   = []string{"true", "yes", "y", "t", "1", "verified", "buyer", "verifiedbuyer", "verifiedpurchase"}
	unverifiedWords = []string{"", "false", "no", "n", "f", "0", "unverified", "notverified", "nothing", "none", "email", "verifiedreviewer", "anonymous", "anonymoususer"}
)

// wholeNumber matches a number such as 12, 1,204 or 3.0, and not 3,0, which is a decimal comma.
var wholeNumber = regexp.MustCompile(`^(?:\d+|\d{1,3}(?:,\d{3})+)(?:\.0*)?$`)

func setTraits(c *comment.Comment, verified, votes string) error {
	c.Verified = slices.Contains(verifiedWords, plain(verified))
	if !c.Verified && !slices.Contains(unverifiedWords, plain(verified)) {
		return fmt.Errorf("verified is %.20q, which is neither %s nor %s; leave the column out by --map verified=",
			verified, strings.Join(verifiedWords, ", "), strings.Join(unverifiedWords[1:], ", "))
	}
	if votes == "" {
		return nil
	}
	whole, _, _ := strings.Cut(strings.ReplaceAll(votes, ",", ""), ".")
	count, err := strconv.Atoi(whole)
	if !wholeNumber.MatchString(votes) || err != nil || count > comment.MaxVotes {
		return fmt.Errorf("the number of votes %.20q is not a whole number from 0 to %d; leave the column out by --map votes=", votes, comment.MaxVotes)
	}
	c.ImportedVotes.Helpful = count
	c.Votes = c.ImportedVotes
	return nil
}

// mediaIn returns the media at the addresses in a value: a JSON list, or addresses separated by
// spaces, semicolons, bars or commas. It drops queries such as ?w=1024, which scale a picture.
func mediaIn(value string, base comment.MediaBase) (all []comment.Media, err error) {
	var addresses []string
	if strings.HasPrefix(value, "[") {
		if json.Unmarshal([]byte(value), &addresses) != nil {
			return nil, errors.New("media is not a list of addresses; leave the column out by --map media=")
		}
	} else {
		addresses = strings.FieldsFunc(strings.NewReplacer(",http", " http", ", ", " ").Replace(value), func(r rune) bool {
			return unicode.IsSpace(r) || r == ';' || r == '|'
		})
	}
	for _, address := range addresses {
		address, _, _ = strings.Cut(address, "?")
		m, outside := base.Below(address)
		all, err = append(all, m), cmp.Or(err, outside)
	}
	if err = cmp.Or(err, comment.CheckMedia(all)); err != nil {
		return nil, fmt.Errorf("media: %w; leave the column out by --map media=", err)
	}
	return all, nil
}
