package importer

import (
	"context"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/dynamo/restore"
	"github.com/talkback/talkback/internal/reviewfile"
)

// Updating returns a function for dynamo.Loader that applies a row to a comment. has reports
// whether the file has a column for a field. Votes, and fields without a column, do not change.
func Updating(has func(reviewfile.Field) bool) func(before, row comment.Comment) comment.Comment {
	return func(before, row comment.Comment) comment.Comment {
		after := before
		after.Rating, after.Language, after.Author = row.Rating, row.Language, row.Author
		after.Title, after.Text = row.Title, row.Text
		if has(reviewfile.Status) && row.Status != before.Status {
			after.Status, after.Moderation = row.Status, row.Moderation
			if was := before.Moderation; was != nil && row.Status == comment.Pending {
				waits := *row.Moderation
				waits.Reports = was.Reports // nobody has decided about them
				after.Moderation = &waits
			}
		}
		if has(reviewfile.Verified) {
			after.Verified = row.Verified
		}
		if has(reviewfile.Media) {
			after.Media = row.Media
		}
		if !has(reviewfile.Reply) {
			return after
		}
		version := before.ReplyDeletion + 1 // of the next reply, or of the deletion of the last
		if before.Reply != nil {
			version = before.Reply.Version + 1
		}
		switch was, wanted := before.Reply, row.Reply; {
		case was == wanted: // both nil
		case wanted == nil:
			after.Reply, after.ReplyDeletion = nil, version
		case was != nil && was.Text == wanted.Text && was.Name == wanted.Name && was.CreatedAt.Equal(wanted.CreatedAt):
		default:
			next := *wanted
			next.Version = version
			after.Reply, after.ReplyDeletion = &next, 0
		}
		return after
	}
}

// Replacing is a Loader that makes comments equal to those in an export.
type Replacing struct{ Loader *restore.Loader }

// Load implements Loader. Of comments with the same ID, it loads only the first, across all chunks.
func (r Replacing) Load(ctx context.Context, comments []comment.Comment) (dynamo.LoadCounts, error) {
	items, there := make([]layout.Item, 0, len(comments)), map[comment.ID]bool{}
	for _, c := range comments {
		if it := layout.Encode(c); !there[c.ID] && !r.Loader.Loaded(it) {
			there[c.ID], items = true, append(items, it)
		}
	}
	did, err := r.Loader.Load(ctx, items)
	return dynamo.LoadCounts{
		Written: did.Written, Updated: did.Replaced, Existing: did.Existing, Erased: did.Erased, Repeated: len(comments) - len(items),
	}, err
}
