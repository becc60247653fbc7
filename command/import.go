package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo"
	"github.com/talkback/talkback/dynamo/call"
	"github.com/talkback/talkback/internal/reviewfile"
)

// Import reads a file of reviews into the table.
type Import struct {
	CreateFlags

	File       string   `arg:"" complete:"files" help:"File of reviews: TSV, CSV or JSON Lines, plain or gzip, or what export wrote; - for standard input."`
	Format     string   `help:"How the file is written: tsv, csv or jsonl; auto goes by its name, else by its first line (default: ${default})." enum:"auto,tsv,csv,jsonl" default:"auto" placeholder:"csv"`
	Map        []string `help:"Column of a field: id, product, rating, language, title, text, author, authorName or createdAt. Well-known names need none; an empty column means that there is none. Repeatable." sep:"none" placeholder:"FIELD=COLUMN"`
	Language   string   `help:"Language of all rows, such as en or und; with --language-of or --map language=..., of the rows whose column tells none." placeholder:"TAG"`
	LanguageOf []string `help:"Language that a value of the language's column stands for, such as UK=en. Repeatable." sep:"none" placeholder:"VALUE=TAG"`
	Customers  bool     `name:"authors-are-customers" help:"The ids of authors in the file are the shop's own of its customers: whoever signs in as one may edit these comments. Without it, only moderators may."`
	Rejects    string   `help:"File for the rows that cannot be imported: line, reason, row. Default: the name of the file with .rejects.tsv." type:"path" placeholder:"FILE"`
	Force      bool     `help:"Write over a file of rejected rows that exists."`
	Calls      int      `help:"How many calls to the table may be under way at once. On AWS, more are faster. Default: what suits the local engine." default:"0" placeholder:"N"`
	Revive     bool     `help:"Write comments of the file again that were deleted since. Without it, what was deleted stays deleted."`
	MaxRejects string   `help:"Stop, and fail, when more rows than this cannot be imported: a number of rows, or a share of them such as 1%. Default: only a file of which no row can be imported fails." placeholder:"1%"`
	DryRun     bool     `help:"Read the whole file, say what would become of its rows, and write nothing. Needs no table."`
	NoCount    bool     `help:"Do not count the comments here, nor wait until they are counted: leave that to a server, to talkback stream or to a function of AWS Lambda."`
}

// A chunk ends with as many rows as keep every call busy for a while, or before its comments need much memory.
const (
	partsPerCall = 4
	chunkBytes   = 8 << 20
	chunksAhead  = 2
)

// Run imports the file and says what became of every row. Rows that cannot be imported stop nothing. An error says what
// stopped the import, how far it came, and that running it again goes on from there.
func (c *Import) Run(ctx context.Context, flags *EngineFlags, term Terminal) (err error) {
	options, err := c.Options()
	if err != nil {
		return usage(err)
	}
	most, err := parseRejectLimit(c.MaxRejects)
	if err != nil {
		return usage(err)
	}
	in, err := await(ctx, func() (*input, error) { return openInput(c.File, options, term.In) })
	if err != nil {
		return err
	}
	rejects, err := c.newRejects(flags, in.source, term)
	if err != nil {
		return errors.Join(err, in.source.Close())
	}
	work := &importing{
		in:       in,
		rejects:  rejects,
		most:     most,
		progress: newProgress(term.Err, in.source.Size, "rows"),
		rows:     call.MaxKeysPerGet * partsPerCall * max(c.Calls, dynamo.DefaultLoadCalls),
	}
	if c.DryRun {
		return c.dryRun(ctx, work, term)
	}
	session, err := flags.Open(ctx, Opening{Owner: "talkback import", Create: c.CreateTable || flags.local()}, term)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, session.Close()) }()

	loader := dynamo.NewLoader(session.Client, session.Table, c.Calls)
	loader.Revive = c.Revive
	work.loader = loader
	if c.NoCount {
		err = watched(ctx, session, work.run)
		return work.finish(err, term.Out)
	}
	counting := newCounting(session, "talkback import", term.Logger)
	counting.prepare(ctx)
	err = watched(ctx, session, func(ctx context.Context) error { return counting.during(ctx, work, term.Err) })
	return work.finish(err, term.Out)
}

// Options are how the flags say that the file is to be understood, or an error that names the flag to mend.
func (c *Import) Options() (reviewfile.Options, error) {
	o := reviewfile.Options{Format: reviewfile.FormatOf(c.File), Customers: c.Customers}
	if c.Format != "" && c.Format != "auto" {
		o.Format = reviewfile.Format(c.Format)
	}
	if err := checkCalls(c.Calls); err != nil {
		return o, err
	}
	if c.Language != "" {
		language, err := comment.ParseLanguage(c.Language)
		if err != nil {
			return o, fmt.Errorf("--language: %w", err)
		}
		o.Language = language
	}
	var err error
	if o.Columns, err = parseMap(c.Map); err != nil {
		return o, err
	}
	o.LanguageOf, err = parseLanguageOf(c.LanguageOf)
	return o, err
}

func checkCalls(calls int) error {
	if calls < 0 {
		return fmt.Errorf("--calls %d is not a number of calls: give 1 or more", calls)
	}
	return nil
}

func parseMap(flags []string) (map[reviewfile.Field]string, error) {
	columns := map[reviewfile.Field]string{}
	for _, flag := range flags {
		name, column, found := strings.Cut(flag, "=")
		field, known := parseField(name)
		switch _, twice := columns[field]; {
		case !found || !known:
			return nil, fmt.Errorf("--map %s: give FIELD=COLUMN with one of the fields %v", flag, reviewfile.Fields())
		case twice:
			return nil, fmt.Errorf("--map gives two columns for %s: give one", field)
		}
		columns[field] = strings.TrimSpace(column)
	}
	return columns, nil
}

func parseField(name string) (reviewfile.Field, bool) {
	for _, field := range reviewfile.Fields() {
		if strings.EqualFold(string(field), strings.TrimSpace(name)) {
			return field, true
		}
	}
	return "", false
}

func parseLanguageOf(flags []string) (map[string]comment.Language, error) {
	languages := map[string]comment.Language{}
	for _, flag := range flags {
		at := strings.LastIndexByte(flag, '=') // a tag has none
		if at < 0 {
			return nil, fmt.Errorf("--language-of %s: give VALUE=TAG, such as UK=en", flag)
		}
		language, err := comment.ParseLanguage(strings.TrimSpace(flag[at+1:]))
		if err != nil {
			return nil, fmt.Errorf("--language-of %s: %w", flag, err)
		}
		value := strings.ToLower(strings.TrimSpace(flag[:at]))
		if before, twice := languages[value]; twice && before != language {
			return nil, fmt.Errorf("--language-of gives two languages for %s: give one", value)
		}
		languages[value] = language
	}
	return languages, nil
}

// newRejects finds out where rejected rows go. A dry run that names no file only tells of them.
func (c *Import) newRejects(flags *EngineFlags, source *reviewfile.Source, term Terminal) (*rejects, error) {
	if c.DryRun && c.Rejects == "" {
		return &rejects{teller: &rejectTeller{out: term.Err}}, nil
	}
	if err := flags.checkOutput(c.rejectsPath()); err != nil {
		return nil, err
	}
	return newRejects(c.rejectsPath(), c.Force, source)
}

func (c *Import) rejectsPath() string {
	switch {
	case c.Rejects != "":
		return c.Rejects
	case c.File == reviewfile.StandardInput:
		return "talkback.rejects.tsv"
	}
	return c.File + ".rejects.tsv"
}

// await runs what may wait for a pipe that nobody writes to, and leaves it behind when the context ends.
func await[T any](ctx context.Context, wait func() (T, error)) (T, error) {
	type outcome struct {
		value T
		err   error
	}
	done := make(chan outcome, 1)
	go func() {
		value, err := wait()
		done <- outcome{value, err}
	}()
	select {
	case o := <-done:
		return o.value, o.err
	case <-ctx.Done():
		var none T
		return none, ctx.Err()
	}
}

// input is an opened file of reviews.
type input struct {
	source *reviewfile.Source
	reader *reviewfile.Reader
}

func openInput(name string, options reviewfile.Options, stdin io.Reader) (*input, error) {
	source, err := reviewfile.Open(name, stdin)
	if err != nil {
		return nil, err
	}
	reader, err := reviewfile.NewReader(source, options)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", printable(filepath.Base(name)), err), source.Close())
	}
	return &input{source, reader}, nil
}

// chunk is a number of rows, one after the other, as they were read.
type chunk struct {
	comments []comment.Comment
	bad      []*reviewfile.RowError
	line     int   // of the last row
	taken    int64 // bytes of the file read so far
	err      error // why there is no further chunk, nil at the end of the file
}

// read sends the rows in chunks of so many, and then closes the channel and the file. It ends with the context, but not
// while it waits for input: nobody may wait for it.
func (in *input) read(ctx context.Context, rows int, chunks chan<- chunk) {
	defer close(chunks)
	defer func() { _ = in.source.Close() }() // it was only read
	for more := true; more; {
		var next chunk
		next, more = in.chunk(rows)
		select {
		case chunks <- next:
		case <-ctx.Done():
			return
		}
	}
}

// chunk reads the next chunk, and tells whether there may be another.
func (in *input) chunk(rows int) (next chunk, more bool) {
	for bytes := 0; len(next.comments)+len(next.bad) < rows && bytes < chunkBytes; {
		row, err := in.reader.Next()
		var bad *reviewfile.RowError
		switch {
		case errors.As(err, &bad):
			next.bad = append(next.bad, bad)
			next.line = bad.Line
			bytes += len(bad.Raw)
		case err == nil:
			next.comments = append(next.comments, row.Comment)
			next.line = row.Line
			bytes += len(row.Comment.Text)
		default:
			if err != io.EOF {
				next.err = err
			}
			next.taken = in.source.Taken()
			return next, false
		}
	}
	next.taken = in.source.Taken()
	return next, true
}

// importing is an import under way. One goroutine reads, this one writes.
type importing struct {
	in       *input
	loader   rowLoader
	rejects  *rejects
	most     rejectLimit
	progress *progress
	rows     int // of a chunk

	counts dynamo.LoadCounts
	line   int // last one that is done
	// loaded is how long it took until all rows were done, and counted how long from then until all were counted; 0 until
	// that is so.
	loaded, counted time.Duration
}

func (w *importing) run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	chunks := make(chan chunk, chunksAhead)
	go w.in.read(ctx, w.rows, chunks)
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case next, open := <-chunks:
			if !open {
				w.loaded = w.progress.end()
				return w.judge(w.total(), true)
			}
			if err := w.load(ctx, next); err != nil {
				return err
			}
		}
	}
}

// load brings one chunk to where it belongs.
func (w *importing) load(ctx context.Context, next chunk) error {
	if err := w.rejects.add(ctx, next.bad); err != nil {
		return err
	}
	if err := w.judge(w.total()+len(next.comments), false); err != nil {
		return err
	}
	counts, err := w.loader.Load(ctx, next.comments)
	w.counts.Written += counts.Written
	w.counts.Existing += counts.Existing
	w.counts.Deleted += counts.Deleted
	w.counts.Repeated += counts.Repeated
	if err != nil {
		return err
	}
	if next.line > 0 {
		w.line = next.line
	}
	w.progress.show(w.total(), next.taken)
	return next.err
}

// judge is an error when too many of so many rows were rejected.
func (w *importing) judge(rows int, end bool) error {
	if w.most.exceeded(w.rejects.count, rows, end) {
		return errTooManyRejects
	}
	return nil
}

// total is the number of rows of which it is known what became of them.
func (w *importing) total() int {
	return w.counts.Written + w.counts.Existing + w.counts.Deleted + w.counts.Repeated + w.rejects.count
}

// finish says what became of the rows, on out if the import came to its end, else in the error.
func (w *importing) finish(err error, out io.Writer) error {
	took := cmp.Or(w.loaded, w.progress.end())
	err = errors.Join(err, w.rejects.close())
	summary := w.summary(took)
	if err == nil {
		_, err = fmt.Fprintln(out, summary)
		return errors.Join(err, w.nothing())
	}
	if errors.Is(err, errTooManyRejects) {
		return fmt.Errorf("%w: --max-rejects is %s, and the import stopped after line %d\n%s\nMend the file, or say by flags how it is to be read, and run it again%s", err, w.most.text, w.line, summary, w.rejects.again())
	}
	if errors.Is(err, context.Canceled) {
		err = errors.New("interrupted")
	}
	if w.loaded > 0 {
		return fmt.Errorf("the rows are in the table, but it is not known whether all are counted: %w\n%s\nA server, talkback stream or a further import counts the rest", err, summary)
	}
	return fmt.Errorf("the import stopped after line %d: %w\n%s\nRun it again%s: it goes on where it was", w.line, err, summary, w.rejects.again())
}

// dry tells whether nothing is written.
func (w *importing) dry() bool {
	_, dry := w.loader.(rehearsal)
	return dry
}

// nothing is an error when the file brought nothing at all, which is never what was wanted.
func (w *importing) nothing() error {
	switch {
	case w.total() == 0:
		return errors.New("the file holds no rows")
	case w.total() == w.rejects.count:
		return errors.New("no row can be imported: see the reasons, mend the file, or say by --map, --language and --language-of how it is to be read")
	}
	return nil
}

func (w *importing) summary(took time.Duration) string {
	n := w.counts
	text := english.Sprintf("%d rows = %s + %d repeated in the file + %d rejected, in %.1f s (%.0f rows/s)",
		w.total(), w.loadedText(), n.Repeated, w.rejects.count, took.Seconds(), rate(w.total(), took))
	if w.counted > 0 {
		text += fmt.Sprintf(", all counted after another %.1f s", w.counted.Seconds())
	}
	if n.Deleted > 0 {
		text += "\nDeleted comments stay deleted; --revive writes them again"
	}
	if w.dry() {
		text += "\nThis was a dry run: no table was asked, and nothing was written"
	}
	if w.rejects.count > 0 && w.rejects.teller == nil {
		text += fmt.Sprintf("\nThe rejected rows, with line and reason, are in %s", printable(w.rejects.path))
	}
	return text
}

// loadedText says what became of the rows that are comments.
func (w *importing) loadedText() string {
	n := w.counts
	switch {
	case w.dry():
		return english.Sprintf("%d that an empty table would take", n.Written)
	case n.Deleted > 0:
		return english.Sprintf("%d written + %d already there + %d deleted before", n.Written, n.Existing, n.Deleted)
	}
	return english.Sprintf("%d written + %d already there", n.Written, n.Existing)
}
