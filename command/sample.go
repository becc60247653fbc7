package command

import (
	"context"
	"fmt"
	"slices"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo"
	"github.com/talkback/talkback/sample"
)

// sampleChunk is how many comments are loaded between two looks at the progress. It is one fetch by ids, too.
const sampleChunk = dynamo.MaxKeysPerGet

// loadSample puts the sample data into an empty table. It goes on with a load that was interrupted, and leaves a table
// that holds anything else as it is.
func loadSample(ctx context.Context, session *Session, term Terminal) error {
	chunks := slices.Collect(slices.Chunk(slices.Collect(sample.Comments()), sampleChunk))
	wanted, err := wantsSample(ctx, session, chunks[0], chunks[len(chunks)-1])
	if err != nil || !wanted {
		return err
	}
	total := sampleChunk*(len(chunks)-1) + len(chunks[len(chunks)-1])
	fmt.Fprintf(term.Err, "Putting %d sample comments into the table.\n", total)
	progress := newProgress(term.Err, int64(total), "comments")
	defer progress.end()
	loader := dynamo.NewLoader(session.Client, session.Table, 0)
	done := 0
	for _, chunk := range chunks {
		if _, err := loader.Load(ctx, chunk); err != nil {
			return fmt.Errorf("loading the sample data: %w; starting again goes on with it", err)
		}
		done += len(chunk)
		progress.show(done, int64(done))
	}
	return nil
}

// wantsSample tells whether the table has no comments, or holds the beginning of the sample data without its end.
func wantsSample(ctx context.Context, session *Session, first, last []comment.Comment) (bool, error) {
	there, err := dynamo.HasComments(ctx, session.Client, session.Table)
	if err != nil || !there {
		return !there, err
	}
	begun, err := holdsAny(ctx, session, first)
	if err != nil || !begun {
		return false, err
	}
	ended, err := holdsAny(ctx, session, last)
	return !ended, err
}

func holdsAny(ctx context.Context, session *Session, comments []comment.Comment) (bool, error) {
	ids := make([]comment.ID, len(comments))
	for i, c := range comments {
		ids[i] = c.ID
	}
	found, _, err := dynamo.NewStore(session.Client, session.Table).CommentsByID(ctx, ids)
	return len(found) > 0, err
}
