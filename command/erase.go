package command

import (
	"context"
	"log/slog"
	"sync"

	"github.com/talkback/talkback/dynamo/erasure"
)

// newEraser makes what erases authors from the table of a session, for a command.
func newEraser(session *Session, name string) *erasure.Eraser {
	return erasure.New(session.Client, session.Table, erasure.Options{Who: processName(name), Engine: session.run})
}

// erasingBeside does erasures that were asked for or interrupted while the work goes on.
func erasingBeside(ctx context.Context, eraser *erasure.Eraser, log *slog.Logger, work func(context.Context) error) error {
	erase, stop := context.WithCancel(ctx)
	var running sync.WaitGroup
	running.Go(func() { eraser.Serve(erase, log) })
	defer running.Wait()
	defer stop()
	return work(ctx)
}
