package importer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"path/filepath"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo"
	"github.com/talkback/talkback/internal/output"
	"github.com/talkback/talkback/internal/reviewfile"
	"github.com/talkback/talkback/internal/task"
)

// Input is an opened file of reviews.
type Input struct {
	source *reviewfile.Source
	reader *reviewfile.Reader
	first  *chunk // read by Peek
}

// Open opens a file of reviews, or standard input if the name is "-", and reads its beginning. It
// returns the context's error if the context ends first, for example while a pipe has no writer.
func Open(ctx context.Context, name string, options reviewfile.Options, stdin io.Reader) (*Input, error) {
	return task.Await(ctx, func() (*Input, error) {
		source, err := reviewfile.Open(name, stdin)
		if err != nil {
			return nil, err
		}
		reader, err := reviewfile.NewReader(source, options)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("%s: %w", output.Printable(filepath.Base(reviewfile.Named(name))), err), source.Close())
		}
		return &Input{source: source, reader: reader}, nil
	})
}

// Size returns the size of the stored file in bytes, -1 if unknown.
func (in *Input) Size() int64 { return in.source.Size }

// Close closes a file that was not passed to an Import.
func (in *Input) Close() error { return in.source.Close() }

// chunkBytes ends a chunk early, before its comments take much memory.
const chunkBytes = 8 << 20

// chunk is a number of consecutive rows.
type chunk struct {
	comments []comment.Comment
	bad      []*reviewfile.RowError
	first    int   // line of the first comment
	line     int   // of the last row
	taken    int64 // bytes of the file read so far
	err      error // error of reading the file; nil at its end
	last     bool  // whether it is known to be the last one
}

// read sends all rows in chunks of the given number of rows, and then closes the channel and the
// file. It returns when the context ends, but only after the current read: do not wait for it.
func (in *Input) read(ctx context.Context, rows int, chunks chan<- chunk) {
	defer close(chunks)
	defer func() { _ = in.source.Close() }() // it was only read
	for last := false; !last; {
		next := in.chunk(rows)
		last = next.last
		select {
		case chunks <- next:
		case <-ctx.Done():
			return
		}
	}
}

// Preview returns an empty preview for an Import to fill.
func (in *Input) Preview() *Preview {
	return &Preview{Mapping: in.reader.Mapping(), States: map[comment.Status]int{}, random: rand.New(rand.NewPCG(1, 2))}
}

// Peek returns a preview of the first chunk of rows. It keeps them for the import, since standard
// input can be read only once.
func (in *Input) Peek(ctx context.Context, rows int) (*Preview, error) {
	first, err := task.Await(ctx, func() (chunk, error) { return in.chunk(rows), nil })
	if err != nil || reviewfile.EndsReading(first.err) {
		return nil, errors.Join(err, first.err)
	}
	in.first = &first
	p := in.Preview()
	p.Partial = !first.last
	p.add(first.comments, first.bad, first.first)
	p.Repeated = dynamo.NewLoader(nil, "", 0).Rehearse(first.comments).Repeated
	return p, nil
}

// chunk reads the next chunk.
func (in *Input) chunk(rows int) (next chunk) {
	if in.first != nil {
		next, in.first = *in.first, nil
		return next
	}
	for bytes := 0; !next.last && len(next.comments)+len(next.bad) < rows && bytes < chunkBytes; {
		row, err := in.reader.Next()
		var bad *reviewfile.RowError
		switch {
		case errors.As(err, &bad):
			next.bad = append(next.bad, bad)
			next.line = bad.Line
			bytes += len(bad.Raw)
		case err == nil:
			next.first = cmp.Or(next.first, row.Line)
			next.comments = append(next.comments, row.Comment)
			next.line = row.Line
			bytes += len(row.Comment.Text)
		default:
			next.last = true
			if err != io.EOF {
				next.err = err
			}
		}
	}
	next.taken = in.source.Taken()
	return next
}
