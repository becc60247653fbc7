package command

import (
	"context"

	"github.com/talkback/talkback/dynamo"
	"github.com/talkback/talkback/internal/output"
)

// progressOfItems shows how many items of the table are done, of the estimated number.
func progressOfItems(ctx context.Context, session *Session, term Terminal) (*output.Progress, error) {
	about, err := dynamo.NewScanner(session.Client, session.Table, 0).Estimate(ctx)
	if about == 0 { // also from engines that do not count
		about = -1
	}
	return output.NewProgress(term.Err, about, "items"), err
}
