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
		}
		if has(reviewfile.Verified) {
			after.Verified = row.Verified
		}
		if has(reviewfile.Media) {
			after.Media = row.Media
		}
		if has(reviewfile.Reply) && !sameReply(before.Reply, row.Reply) {
			after.Reply, after.ReplyDeletion = reply(before, row.Reply)
		}
		return after
	}
}

func sameReply(a, b *comment.Reply) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Text == b.Text && a.Name == b.Name && a.CreatedAt.Equal(b.CreatedAt)
}

// reply returns the row's reply as the comment's next one, with a new version. Without a reply, it
// returns the version of the deletion.
func reply(before comment.Comment, wanted *comment.Reply) (next *comment.Reply, deletion int) {
	version := before.ReplyDeletion + 1
	if before.Reply != nil {
		version = before.Reply.Version + 1
	}
	if wanted == nil {
		return nil, version
	}
	again := *wanted
	again.Version = version
	return &again, 0
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
