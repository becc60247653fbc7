// Package importer imports a file of reviews into the table. An Input delivers the rows in chunks,
// a Loader writes the comments of each chunk, and Rejects stores the rows that are not comments. A
// bad row stops nothing; a Limit stops the import if there are too many.
//
// A Registry keeps a list of imports in the table: the name of each, when it ran, and how much it
// wrote. It undoes an import by the marks of its comments.
package importer

import (
	"context"
	"errors"
	"time"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo"
	"github.com/talkback/talkback/dynamo/call"
	"github.com/talkback/talkback/internal/output"
)

// chunksAhead is how many chunks are read while one is written.
const chunksAhead = 2

// Loader writes comments to the table, as dynamo.Loader does.
type Loader interface {
	// Load writes the comments that do not exist yet, and counts the outcomes. After an error, the
	// counts cover what was done before.
	Load(context.Context, []comment.Comment) (dynamo.LoadCounts, error)
}

// ErrTooManyRejects stops an import whose Limit is exceeded.
var ErrTooManyRejects = errors.New("too many rows cannot be imported")

// Import is one import. It is used once, by one goroutine.
type Import struct {
	// Input is the file to read. Required.
	Input *Input
	// Loader writes the comments. Required.
	Loader Loader
	// Rejects receives the rows that cannot be imported. Required.
	Rejects *Rejects
	// Limit stops the import when it is exceeded. The zero Limit allows any number.
	Limit Limit
	// Progress shows the number of rows done. Required.
	Progress *output.Progress
	// ChunkRows is the number of rows to write in one call of Loader: see ChunkRows.
	ChunkRows int
	// Preview records all rows that are read; nil for none.
	Preview *Preview
	// Begin is called before the first comments are written; it may be nil.
	Begin func(ctx context.Context) error
	// Note is called after each chunk with the numbers of comments so far; it may be nil.
	Note func(ctx context.Context, written, updated int) error
	// Restore means that the rows are those of an export, which no flags describe.
	Restore bool
	// DryRun means that Loader writes nothing. The report says so.
	DryRun bool

	done result
}

// ChunkRows returns how many rows keep a loader's parallel calls busy; 0 calls are its default.
func ChunkRows(calls int) int {
	return call.MaxKeysPerGet * max(calls, dynamo.DefaultLoadCalls)
}

// Run imports all rows. After an error, running the same import again continues where this one
// stopped. Run returns when the context ends, even if a read of the input hangs.
func (m *Import) Run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	chunks := make(chan chunk, chunksAhead)
	go m.Input.read(ctx, m.ChunkRows, chunks)
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case next, open := <-chunks:
			if !open {
				m.done.loaded = m.Progress.End()
				if m.Limit.exceeded(m.done.rejected, m.done.rows(), true) {
					return ErrTooManyRejects
				}
				return nil
			}
			if err := m.load(ctx, next); err != nil {
				return err
			}
		}
	}
}

// load writes one chunk: its bad rows to the rejects, its comments to the table.
func (m *Import) load(ctx context.Context, next chunk) error {
	if m.Preview != nil {
		m.Preview.add(next.comments, next.bad, next.first)
	}
	err := m.Rejects.add(ctx, next.bad)
	m.done.rejected = m.Rejects.count
	if err != nil {
		return err
	}
	if m.Limit.exceeded(m.done.rejected, m.done.rows()+len(next.comments), false) {
		return ErrTooManyRejects
	}
	if m.Begin != nil && len(next.comments) > 0 {
		if err := m.Begin(ctx); err != nil {
			return err
		}
		m.Begin = nil
	}
	counts, err := m.Loader.Load(ctx, next.comments)
	m.done.Add(counts)
	if m.Preview != nil {
		m.Preview.Repeated += counts.Repeated
	}
	if err == nil && m.Note != nil {
		err = m.Note(ctx, m.done.Written, m.done.Updated)
	}
	if err != nil {
		return err
	}
	for _, c := range next.comments {
		if c.Reply != nil {
			m.done.replies++
		}
	}
	if next.line > 0 {
		m.done.line = next.line
	}
	m.Progress.Show(m.done.rows(), next.taken)
	return next.err
}

// Wrote returns the number of comments added and changed so far.
func (m *Import) Wrote() (written, updated int) { return m.done.Written, m.done.Updated }

// Rejected returns the number of rows rejected so far.
func (m *Import) Rejected() int { return m.done.rejected }

// Rehearse reads all rows of a file and writes nothing. It returns an error if the import would be
// refused, or would stop early.
func Rehearse(ctx context.Context, in *Input, rejects *Rejects, progress *output.Progress) (*Preview, error) {
	p := in.Preview()
	m := &Import{Input: in, Loader: DryRunLoader(), Rejects: rejects.rehearsal(), Progress: progress, ChunkRows: ChunkRows(0), Preview: p}
	return p, errors.Join(m.Run(ctx), m.Rejects.close())
}

// DryRunLoader returns a loader that writes nothing, and counts what an empty table would accept.
func DryRunLoader() Loader { return dryRunLoader{dynamo.NewLoader(nil, "", 0)} }

type dryRunLoader struct{ loader *dynamo.Loader }

// Load counts the comments.
func (d dryRunLoader) Load(_ context.Context, comments []comment.Comment) (dynamo.LoadCounts, error) {
	return d.loader.Rehearse(comments), nil
}

// result is the outcome of the rows so far.
type result struct {
	dynamo.LoadCounts
	rejected int
	replies  int           // how many rows have a reply of the shop
	line     int           // the last line that is done
	loaded   time.Duration // time for all rows; 0 until they are done
}

func (r *result) rows() int {
	return r.Written + r.Updated + r.Changed + r.Existing + r.Deleted + r.Repeated + r.Erased + r.rejected
}
