package reviewfile

import (
	"fmt"
	"slices"
	"strings"

	"github.com/talkback/talkback/comment"
)

// statusWord is a state and the words for it.
type statusWord struct {
	status comment.Status
	words  []string
}

// statusWords are the words for a state that exports of other systems have: Shopify, Judge.me, Yotpo,
// Okendo, Trustpilot, Bazaarvoice, Magento and WooCommerce. They are written as plain writes them.
var statusWords = []statusWord{
	{comment.Approved, []string{"approved", "published", "visible", "live", "active", "ok", "true", "yes", "1"}},
	{comment.Pending, []string{"pending", "notyet", "unpublished", "submitted", "new", "inmoderation", "hold", "false", "no", "0"}},
	{comment.Rejected, []string{"rejected", "hidden", "declined", "disapproved", "notapproved", "archived", "trash"}},
	{comment.Rejected, []string{spamWord}},
	{comment.Withdrawn, []string{"withdrawn"}},
}

// spamWord is the word of a rejected review whose reason is known.
const spamWord = "spam"

// setStatus sets the state of a comment from a word of a file. No word stands for an approved one. A
// pending comment waits for a moderator. An unpublished one does so too: nobody may have decided.
func setStatus(c *comment.Comment, word string) error {
	if word == "" {
		return nil
	}
	at := slices.IndexFunc(statusWords, func(s statusWord) bool { return slices.Contains(s.words, plain(word)) })
	if at < 0 {
		return fmt.Errorf("the status %.20q is not known; the words are: %s; --map status= leaves the column out", word, knownWords())
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

// knownWords lists all words.
func knownWords() string {
	var all []string
	for _, s := range statusWords {
		all = append(all, s.words...)
	}
	return strings.Join(all, ", ")
}
