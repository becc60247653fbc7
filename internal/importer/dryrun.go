package importer

import (
	"context"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo"
)

// DryRunLoader returns a loader that counts what an empty table would take, and writes nothing.
func DryRunLoader() Loader { return dryRunLoader{dynamo.NewLoader(nil, "", 0)} }

type dryRunLoader struct{ loader *dynamo.Loader }

// Load counts the comments.
func (d dryRunLoader) Load(_ context.Context, comments []comment.Comment) (dynamo.LoadCounts, error) {
	return d.loader.Rehearse(comments), nil
}
