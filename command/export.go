package command

import (
	"bufio"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/internal/output"
	"github.com/talkback/talkback/internal/reviewfile"
	"github.com/talkback/talkback/internal/task"
)

// Export writes the comments of the table to a file.
type Export struct {
	File    string `arg:"" complete:"files" help:"File to write, as JSON Lines unless --format says otherwise: one complete comment per line, in no order; - for standard output. It is compressed if its name ends in .gz."`
	Gzip    bool   `help:"Compress the output even if its name does not end in .gz."`
	Product string `help:"Only the comments of this product. With --all, it reads the whole table." placeholder:"espresso-machine"`
	All     bool   `help:"Export everything: also comments that are not approved, and what only moderators see, such as edits that wait and reports. Without it, the file holds what the public sees."`
	Force   bool   `help:"Replace an existing file."`

	Format     string            `help:"Format of the file: jsonl, which auto is too, or google-product-reviews, which is Google's product review feed in XML (default: ${default})." enum:"auto,jsonl,google-product-reviews" default:"auto" placeholder:"jsonl"`
	Publisher  string            `help:"Name of the shop, for a feed." placeholder:"NAME"`
	Favicon    string            `help:"Address of the shop's icon, for a feed." placeholder:"URL"`
	ProductURL string            `name:"product-url" help:"Address of a product's page with {id} in place of its id, for a feed, such as https://shop.example/p/{id}." placeholder:"URL"`
	MediaBase  comment.MediaBase `help:"Prefix of the addresses of pictures, for a feed, as servers have it. Without it, a feed has none." placeholder:"URL"`

	Calls int `help:"Number of concurrent calls to the table. More are faster on AWS. Default: what suits the local engine." default:"0" placeholder:"N"`
}

// progressEvery is the number of comments between two updates of the progress.
const progressEvery = 100

// Run exports, and prints how many comments. After an error there is no file, and the error says
// why.
func (c *Export) Run(ctx context.Context, flags *EngineFlags, term Terminal) (err error) {
	if err := c.check(); err != nil {
		return usage(err)
	}
	if err := flags.checkOutput(c.File); err != nil {
		return err
	}
	// So a write to a closed pipe is an error, instead of the silent end of the process.
	ignored := make(chan os.Signal, 1)
	signal.Notify(ignored, syscall.SIGPIPE)
	defer signal.Stop(ignored)
	out, err := output.Open(ctx, c.File, c.Force, term.Out)
	if err != nil {
		return err
	}
	// Unless the file was kept, delete what was written.
	defer func() { err = errors.Join(err, out.Drop()) }()

	session, err := flags.Open(ctx, Opening{Owner: "talkback export"}, term)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, session.Close()) }()

	progress := output.NewProgress(term.Err, -1, "comments")
	var done exported
	err = session.watch(ctx, func(ctx context.Context) error {
		// A write to a pipe may block until its reader continues. Do not wait for that.
		var err error
		done, err = task.Await(ctx, func() (exported, error) { return c.export(ctx, session, out, progress) })
		return err
	})
	progress.End() // an abandoned writer shows nothing afterwards
	if err != nil {
		return exportStopped(err, out)
	}
	report := output.English.Sprintf("%d comments written to %s in %.1f s (%.0f comments/s)",
		done.comments, out.Name(), done.took.Seconds(), output.Rate(done.comments, done.took))
	if done.withoutText > 0 {
		report += output.English.Sprintf("\n%d comments have stars and no text, and are not in it: a feed takes none", done.withoutText)
	}
	if done.hidden > 0 {
		report += output.English.Sprintf("\n%d comments are not approved, and are not in it", done.hidden)
		if !c.isFeed() {
			report += "; --all exports them too"
		}
	}
	_, err = fmt.Fprintln(term.Err, output.ScreenOf(term.Err).Fold(report))
	return errors.Join(err, printLeftOut(term.Err, done.improper))
}

// printLeftOut prints the keys of invalid items, which the file lacks, and returns an error if
// there are any.
func printLeftOut(said io.Writer, items []layout.Improper) error {
	if len(items) == 0 {
		return nil
	}
	if _, err := io.WriteString(said, output.ScreenOf(said).Fold(improperText(items))); err != nil {
		return err
	}
	return errors.New(output.English.Sprintf("the export lacks %d invalid items: repair or delete them by the keys above, and run it again", len(items)))
}

func (c *Export) check() error {
	if err := checkCalls(c.Calls); err != nil {
		return err
	}
	if err := c.checkFeed(); err != nil {
		return err
	}
	if other := otherFormat(c.File); other != "" && !c.isFeed() {
		return fmt.Errorf("an export is JSON Lines, and %s would be taken for %s: name it .jsonl or .jsonl.gz; columns of your choice are made of it "+
			"by jq, as in talkback export - | jq -r '[.id, .product, .rating, .text] | @csv'", c.File, other)
	}
	if c.Product == "" {
		return nil
	}
	if err := comment.CheckProductID(c.Product); err != nil {
		return fmt.Errorf("--product: %w", err)
	}
	return nil
}

// isFeed reports whether the file is Google's feed.
func (c *Export) isFeed() bool { return c.Format == "google-product-reviews" }

// feed returns Google's feed, as the flags have it.
func (c *Export) feed() *reviewfile.GoogleFeed {
	return &reviewfile.GoogleFeed{Publisher: c.Publisher, Favicon: c.Favicon, ProductURL: c.ProductURL, MediaBase: c.MediaBase}
}

// checkFeed checks what only a feed has, and what it cannot have.
func (c *Export) checkFeed() error {
	switch {
	case c.isFeed() && c.All:
		return errors.New("a feed has approved comments only: leave --all out")
	case c.isFeed() && reviewfile.FormatOf(c.File) != "":
		return fmt.Errorf("a feed is XML, and %s would be taken for something else: name it .xml or .xml.gz", c.File)
	case c.isFeed():
		return c.feed().Check()
	case c.Publisher != "" || c.Favicon != "" || c.ProductURL != "":
		return errors.New("--publisher, --favicon and --product-url are for a feed: add --format google-product-reviews")
	}
	return nil
}

// otherFormat returns the format that a file name promises, if an export does not write it.
func otherFormat(name string) string {
	switch format := reviewfile.FormatOf(name); format {
	case reviewfile.CSV, reviewfile.TSV:
		return strings.ToUpper(string(format))
	}
	switch extension := strings.ToLower(filepath.Ext(name)); extension {
	case ".xlsx", ".xls", ".ods", ".parquet", ".zip", ".bz2", ".xz", ".zst", ".sql", ".xml", ".yaml", ".html":
		return extension[1:]
	}
	return ""
}

// exported is the result of an export.
type exported struct {
	comments int
	// withoutText is how many comments a feed lacks because they have no text.
	withoutText int
	// hidden is how many comments the file lacks because they are not approved.
	hidden int
	took   time.Duration
	// improper are invalid items, which the file lacks.
	improper []layout.Improper
}

// export writes all comments and keeps the file.
func (c *Export) export(ctx context.Context, session *Session, out *output.File, progress *output.Progress) (exported, error) {
	scanner := dynamo.NewScanner(session.Client, session.Table, c.Calls)
	scanner.Everything = c.All
	var mu sync.Mutex
	var improper []layout.Improper
	scanner.OnImproper = func(item layout.Improper) {
		mu.Lock()
		defer mu.Unlock()
		improper = append(improper, item)
	}
	comments, about, err := c.comments(ctx, scanner)
	if err != nil {
		return exported{}, err
	}
	progress.Expect(about)
	compress := c.Gzip || strings.HasSuffix(strings.ToLower(c.File), ".gz")
	form, feed := fileForm[comment.Comment]{appendTo: reviewfile.AppendPartial}, c.feed()
	if c.All && c.Product == "" {
		form.appendTo = reviewfile.Append
	}
	if c.isFeed() {
		if form.head, err = feed.Head(); err != nil {
			return exported{}, err
		}
		form.appendTo, form.tail = feed.Append, feed.Tail()
	}
	count, err := writeLines(out, compress, comments, form, func(count int) { progress.Show(count, int64(count)) })
	took := progress.End()
	if err != nil {
		return exported{}, err
	}
	if count == 0 && len(improper) == 0 && c.Product != "" {
		return exported{}, noProduct(c.Product)
	}
	return exported{count - feed.WithoutText, feed.WithoutText, scanner.Hidden(), took, improper}, out.Keep(ctx)
}

// comments returns the comments to export, and an estimate of their number, -1 if it is unknown.
func (c *Export) comments(ctx context.Context, scanner *dynamo.Scanner) (iter.Seq2[comment.Comment, error], int64, error) {
	if c.Product != "" {
		return scanner.OfProduct(ctx, c.Product), -1, nil
	}
	about, _, err := scanner.Estimate(ctx)
	if about == 0 { // also from engines that do not count
		about = -1
	}
	return scanner.All(ctx), about, err
}

// fileForm is what a file consists of: what appendTo makes of each value, between head and tail.
type fileForm[T any] struct {
	head, tail []byte
	appendTo   func([]byte, T) ([]byte, error)
}

// writeLines writes values in a form, and calls show now and then with the number of values so far.
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

// exportStopped says in one sentence what stopped an export, and what to do.
func exportStopped(err error, out *output.File) error {
	var failed *output.Error
	switch {
	case comment.KindOf(err) == comment.NotFound:
		return err
	case errors.As(err, &failed):
		return failed
	case errors.Is(err, context.Canceled):
		return fmt.Errorf("the export was interrupted: %s; run it again", out.Remains())
	}
	return fmt.Errorf("the export stopped (%w): %s; run it again", err, out.Remains())
}
