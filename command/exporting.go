package command

import (
	"bufio"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"
	"sync"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/internal/output"
	"github.com/talkback/talkback/internal/task"
)

// progressEvery is the number of values between two progress updates.
const progressEvery = 100

// exporting is an export under way.
type exporting struct {
	session  *Session
	out      *output.File
	progress *output.Progress // of comments

	mu       sync.Mutex
	improper []layout.Improper // invalid items, which are not in the file
}

// leaveOut records an invalid item. It is safe for concurrent use.
func (e *exporting) leaveOut(item layout.Improper) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.improper = append(e.improper, item)
}

// export opens the table, and a file or, for -, standard output. Then it calls write, which writes
// and keeps the file, and prints its report. After an error there is no file. An existing
// file is replaced only if force is set.
func (f *EngineFlags) export(ctx context.Context, command, file string, force bool, term Terminal, write func(context.Context, *exporting) (report string, err error)) (err error) {
	if err := f.checkOutput(file); err != nil {
		return err
	}
	defer outliveReaders()()
	out, err := output.Open(ctx, file, force, term.Out)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Drop()) }() // unless it was kept
	return f.with(ctx, Opening{Owner: command}, term, func(session *Session) error {
		e := &exporting{session: session, out: out, progress: output.NewProgress(term.Err, -1, "comments")}
		var report string
		err := session.watch(ctx, func(ctx context.Context) (err error) {
			// A write to a pipe may block until its reader continues. Do not wait for that.
			report, err = task.Await(ctx, func() (string, error) { return write(ctx, e) })
			return err
		})
		e.progress.End() // so that an abandoned writer shows nothing later
		var failed *output.Error
		switch {
		case err == nil:
			return errors.Join(printFolded(term.Err, report+"\n"), printLeftOut(term.Err, e.improper))
		case comment.KindOf(err) == comment.NotFound, errors.As(err, new(*usageError)):
			return err
		case errors.As(err, &failed):
			return failed
		case errors.Is(err, context.Canceled):
			return fmt.Errorf("the export was interrupted: %s; run it again", out.Remains())
		}
		return fmt.Errorf("the export stopped (%w): %s; run it again", err, out.Remains())
	})
}

// printLeftOut prints the keys of invalid items. If there are any, it returns an error.
func printLeftOut(said io.Writer, items []layout.Improper) error {
	if len(items) == 0 {
		return nil
	}
	if err := printFolded(said, improperText(items)); err != nil {
		return err
	}
	return errors.New("the export lacks " + output.Count(len(items), "invalid item: repair or delete it by the key above, and run it again",
		"invalid items: repair or delete them by the keys above, and run it again"))
}

func isGzipName(name string) bool { return strings.HasSuffix(strings.ToLower(name), ".gz") }

// fileForm is the form of a file: values, each written by appendTo, between head and tail.
type fileForm[T any] struct {
	head, tail []byte
	appendTo   func([]byte, T) ([]byte, error)
}

// writeLines writes values in a form, and calls show from time to time with their number so far.
func writeLines[T any](out io.Writer, compress bool, values iter.Seq2[T, error], form fileForm[T], show func(count int)) (count int, err error) {
	buffered := bufio.NewWriterSize(out, 64<<10)
	lines, end := io.Writer(buffered), buffered.Flush
	if compress {
		zip := gzip.NewWriter(buffered)
		lines, end = zip, func() error { return errors.Join(zip.Close(), buffered.Flush()) }
	}
	if _, err := lines.Write(form.head); err != nil {
		return 0, err
	}
	var line []byte
	for value, err := range values {
		if err != nil {
			return count, err
		}
		if line, err = form.appendTo(line[:0], value); err != nil {
			return count, err
		}
		if _, err := lines.Write(line); err != nil {
			return count, err
		}
		if count++; count%progressEvery == 0 {
			show(count)
		}
	}
	if _, err := lines.Write(form.tail); err != nil {
		return count, err
	}
	return count, end()
}
