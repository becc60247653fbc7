// Package moderation decides which comments wait for a moderator before they are shown: the policy
// of a table. It reads files once, when a policy is opened; decisions are pure.
package moderation

import (
	"slices"
	"strings"

	"github.com/talkback/talkback/comment"
)

// Policy says which new and edited comments wait for a moderator. The zero value publishes all. It
// is safe for concurrent use.
type Policy struct {
	always bool
	rules  rules
}

// rules hold a comment if any of them applies. The zero value of a rule never applies.
type rules struct {
	link         bool
	ratingUpTo   int
	words        *wordList
	languages    []comment.Language // that are not held, all if nil
	unverified   bool
	firstComment bool
}

// NeedsFirst reports whether it matters for Hold, and so must be looked up, whether the author of a
// comment lacks an approved one.
func (p Policy) NeedsFirst() bool { return p.rules.firstComment }

// Hold returns why a comment waits for a moderator, in the order of comment.HoldReasons, or nil to
// publish it. first says that none of the author's latest comments is approved. For an edit, pass
// the comment as it is after the edit.
func (p Policy) Hold(c comment.Comment, first bool) []comment.HoldReason {
	if p.always {
		return []comment.HoldReason{comment.HeldAlways}
	}
	var texts []string // all texts that people see, even the author's name: a spammer chooses that, too
	if p.rules.link || p.rules.words != nil {
		texts = append(texts, plain(c.Text), plain(c.Author.Name))
		if c.Title != nil {
			texts = append(texts, plain(*c.Title))
		}
		for _, m := range c.Media {
			texts = append(texts, plain(m.Alt))
		}
	}
	listed := func(language comment.Language) bool { // itself, or what it is a part of: "pt" covers "pt-BR"
		return c.Language == language || strings.HasPrefix(string(c.Language), string(language)+"-")
	}
	var reasons []comment.HoldReason
	for _, rule := range []struct {
		holds  bool
		reason comment.HoldReason
	}{
		{p.rules.link && slices.ContainsFunc(texts, hasLink), comment.HeldLink},
		{c.Rating <= p.rules.ratingUpTo, comment.HeldRating},
		{p.rules.words != nil && slices.ContainsFunc(texts, p.rules.words.in), comment.HeldWord},
		{p.rules.languages != nil && !slices.ContainsFunc(p.rules.languages, listed), comment.HeldLanguage},
		{p.rules.unverified && !c.Verified, comment.HeldUnverified},
		{p.rules.firstComment && first, comment.HeldFirst},
	} {
		if rule.holds {
			reasons = append(reasons, rule.reason)
		}
	}
	return reasons
}
