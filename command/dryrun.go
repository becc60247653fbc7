package command

import (
	"context"
	"fmt"
	"io"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo"
	"github.com/talkback/talkback/internal/reviewfile"
)

// rowLoader brings comments to where they belong, and says what became of them.
type rowLoader interface {
	Load(context.Context, []comment.Comment) (dynamo.LoadCounts, error)
}

// rehearsal loads nothing.
type rehearsal struct{ loader *dynamo.Loader }

// Load counts the comments.
func (r rehearsal) Load(_ context.Context, comments []comment.Comment) (dynamo.LoadCounts, error) {
	return r.loader.Rehearse(comments), nil
}

// toldRejects is how many rejected rows a dry run tells of.
const toldRejects = 10

// rejectTeller tells of the first rejected rows, where they are kept nowhere.
type rejectTeller struct {
	out  io.Writer
	told int
}

func (t *rejectTeller) tell(rows []*reviewfile.RowError) error {
	for _, row := range rows {
		if t.told == toldRejects {
			return nil
		}
		t.told++
		if _, err := fmt.Fprintf(t.out, "line %d: %s\n", row.Line, printable(row.Reason)); err != nil {
			return err
		}
	}
	return nil
}

// dryRun reads the whole file and writes nothing but rejected rows, if a file for them is named.
func (c *Import) dryRun(ctx context.Context, work *importing, term Terminal) error {
	work.loader = rehearsal{dynamo.NewLoader(nil, "", 0)}
	return work.finish(work.run(ctx), term.Out)
}
