package command

import (
	"context"
	"fmt"
	"slices"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo"
	"github.com/talkback/talkback/dynamo/call"
	"github.com/talkback/talkback/internal/output"
	"github.com/talkback/talkback/internal/sample"
)

// sampleChunk is the number of comments between two progress updates. It is also the most that one
// read by ids can fetch.
const sampleChunk = call.MaxKeysPerGet

// sampleFor returns a function that loads the sample data into an empty table, or the rest of it
// after an interrupted load. It returns nil for a table with other comments.
func sampleFor(ctx context.Context, session *Session, term Terminal) (load func(context.Context) error, err error) {
	chunks := slices.Collect(slices.Chunk(slices.Collect(sample.Comments()), sampleChunk))
	load = func(ctx context.Context) error { return loadSample(ctx, session, chunks, term) }
	there, err := dynamo.HasComments(ctx, session.Client, session.Table)
	if err != nil || !there {
		return load, err
	}
	begun, err := holdsAny(ctx, session, chunks[0])
	if err != nil || !begun {
		return nil, err
	}
	ended, err := holdsAny(ctx, session, chunks[len(chunks)-1])
	if ended {
		load = func(context.Context) error { return nil }
	}
	return load, err
}

func loadSample(ctx context.Context, session *Session, chunks [][]comment.Comment, term Terminal) error {
	total := sampleChunk*(len(chunks)-1) + len(chunks[len(chunks)-1])
	fmt.Fprintf(term.Err, "Putting %d sample comments into the table.\n", total)
	progress := output.NewProgress(term.Err, int64(total), "comments")
	defer progress.End()
	loader := dynamo.NewLoader(session.Client, session.Table, 0)
	done := 0
	for _, chunk := range chunks {
		if _, err := loader.Load(ctx, chunk); err != nil {
			return fmt.Errorf("loading the sample data: %w; start again to continue", err)
		}
		done += len(chunk)
		progress.Show(done, int64(done))
	}
	return nil
}

func holdsAny(ctx context.Context, session *Session, comments []comment.Comment) (bool, error) {
	ids := make([]comment.ID, len(comments))
	for i, c := range comments {
		ids[i] = c.ID
	}
	found, _, err := dynamo.NewStore(session.Client, session.Table, dynamo.Options{}).CommentsByID(ctx, ids, true)
	return len(found) > 0, err
}
