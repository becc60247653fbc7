package dynamo

import (
	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/layout"
)

// sharedPage is a page as callers share it: texts stay compressed that the table has so.
type sharedPage struct {
	comment.Page // without its comments
	comments     []layout.Compressed
}
