package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo"
	"github.com/talkback/talkback/dynamo/erasure"
	"github.com/talkback/talkback/dynamo/restore"
	"github.com/talkback/talkback/internal/importer"
	"github.com/talkback/talkback/internal/output"
	"github.com/talkback/talkback/internal/reviewfile"
	"github.com/talkback/talkback/pageindex/keeper"
)

// Import reads a file of reviews into the table.
type Import struct {
	CreateFlags
	PagesFlag

	File       string   `arg:"" optional:"" complete:"files" help:"File of reviews: TSV, CSV or JSON Lines, plain or gzip, or a file of export; - for standard input. Or an export of DynamoDB to S3, which is restored: s3://BUCKET/PREFIX, or a folder that it was copied to."`
	From       string   `help:"System whose export the file is: ${preset_names}. Only the columns that are known of such exports are read, beside those of --map." enum:"none,${presets}" default:"none" placeholder:"NAME"`
	Format     string   `help:"Format of the file: tsv, csv or jsonl; auto decides by its name, then by its first line (default: ${default})." enum:"auto,tsv,csv,jsonl" default:"auto" placeholder:"csv"`
	Map        []string `help:"Column of a field: id, product, rating, language, title, text, author, authorName, createdAt, status, reply, replyName, replyDate, verified, votes or media. Common column names are recognized; an empty column leaves the field out. Repeatable." sep:"none" placeholder:"FIELD=COLUMN"`
	Language   string   `help:"Language of all rows, such as en or und; with --language-of or --map language=..., of the rows whose column has none." placeholder:"TAG"`
	Detect     string   `name:"detect-language" help:"Detect the language of rows whose column has none, among these, such as de,en,fr; all for all that can be detected. A text whose language is uncertain is und." placeholder:"TAGS"`
	LanguageOf []string `help:"Language for a value of the language column, such as UK=en. Repeatable." sep:"none" placeholder:"VALUE=TAG"`
	TimeZone   string   `help:"Time zone of dates that name none, such as Europe/Berlin. Default: UTC." placeholder:"NAME"`
	Customers  bool     `name:"authors-are-customers" help:"Author ids in the file are customer ids of the shop: customers may edit their imported comments. Without it, only moderators may."`

	HashAuthors  bool   `help:"Replace the author ids of the file, such as e-mail addresses, by their HMAC-SHA-256. Needs TALKBACK_AUTHOR_SECRET."`
	AuthorSecret string `help:"Secret of --hash-authors, the same for each import. Set it in the environment." placeholder:"SECRET"`
	AsTheyAre    bool   `name:"authors-as-they-are" help:"Take authors that look like e-mail addresses. Ids and names of authors are public."`

	MediaBase  comment.MediaBase `help:"Prefix of the addresses of pictures and videos in the file, as servers have it. Without it, the column is not read." placeholder:"URL"`
	ShopName   string            `help:"Name that replies of the shop have in rows that give none. Without it, that is Shop." placeholder:"NAME"`
	Rejects    string            `help:"File for rejected rows: line, reason, row. Default: the name of the imported file with .rejects.tsv." type:"path" placeholder:"FILE"`
	Force      bool              `help:"Replace an existing file of rejected rows."`
	Name       string            `help:"Name of the import, by which --undo takes it back (default: the name of the file)." placeholder:"NAME"`
	Update     bool              `help:"Write what changed in the file to comments that earlier imports added. Those that were changed here stay as they are."`
	List       bool              `help:"Print the imports of the table."`
	Undo       string            `help:"Remove the comments that the import of this name added, except those that were edited, replied to or decided about since. Reads the whole table." placeholder:"NAME"`
	Calls      int               `help:"Number of concurrent calls to the table, at most ${max_calls}. More are faster on AWS; 0 for what suits the local engine (default: ${default})." default:"0" placeholder:"N" type:"calls"`
	Restore    bool              `help:"Take lines of talkback export as they are: ids, authors, dates and versions. Only for a file that you exported yourself."`
	Replace    bool              `help:"With --restore or an export of DynamoDB, make the table equal to it: replace comments that differ, and delete those that it lacks. For a table that nobody writes to yet; takes some 50 bytes of memory for each comment."`
	Revive     bool              `help:"Write comments again that were deleted since an earlier import. Without it, they stay deleted."`
	MaxRejects string            `help:"Fail when more rows than this are rejected: a number of rows, or a share such as 1%. Default: fail only if all rows are rejected." placeholder:"1%"`
	DryRun     bool              `help:"Read the whole file, print what would become of its rows, and write nothing. Needs no table."`
	Yes        bool              `help:"Import, or take an import back, without a question after the report. Only a terminal is asked."`
	NoCount    bool              `help:"Do not count the comments, nor wait until they are counted: leave that to a server, talkback stream or an AWS Lambda function."`
}

// Run imports the file and prints the result. A row that cannot be imported stops nothing. An error
// says what stopped the import, how far it came, and how to continue.
func (c *Import) Run(ctx context.Context, line *kong.Context, flags *EngineFlags, term Terminal) (err error) {
	if err := c.checkMode(); err != nil {
		return asUsage(err)
	}
	target, err := c.PagesFlag.target()
	switch {
	case err != nil:
		return err
	case c.List:
		return flags.with(ctx, Opening{Owner: "talkback import"}, term, func(session *Session) error { return listImports(ctx, session, term) })
	case c.Undo != "":
		return flags.with(ctx, Opening{Owner: "talkback import"}, term, func(session *Session) error { return undoImport(ctx, session, c.Undo, c.Yes, target, c.NoCount, term) })
	case restore.IsExport(c.File):
		c.Restore = true // there is no other way to read it
		if c.Revive || c.Name+c.Rejects+c.MaxRejects != "" || isGiven(line, "media-base") || c.Format != "" && c.Format != "auto" {
			return usagef("an export of DynamoDB is restored as it is: leave out --name, --format, --media-base, --rejects, --max-rejects and --revive")
		}
		if _, err := c.Options(); err != nil {
			return asUsage(err)
		}
		return tableRestore{c.File, c.Calls, c.Replace, c.DryRun, c.CreateTable, c.NoCount, target}.run(ctx, flags, term)
	}
	options, err := c.Options()
	if err != nil {
		return asUsage(err)
	}
	if c.Detect != "" {
		detector, err := importer.StartDetector(ctx, c.Detect)
		if err != nil {
			return cmp.Or(ctx.Err(), asUsage(err))
		}
		defer detector.Close()
		options.Detect = detector.Language
	}
	limit, err := importer.ParseLimit(c.MaxRejects)
	if err != nil {
		return asUsage(err)
	}
	in, err := importer.Open(ctx, c.File, options, term.In)
	if err != nil {
		return err
	}
	rejects, err := c.newRejects(flags, in, term)
	if err == nil && !c.DryRun && !c.Restore {
		err = c.report(ctx, in, rejects, options, term)
	}
	if err != nil {
		return errors.Join(err, in.Close())
	}
	work := &importer.Import{
		Input:     in,
		Rejects:   rejects,
		Limit:     limit,
		Progress:  output.NewProgress(term.Err, in.Size(), "rows"),
		ChunkRows: importer.ChunkRows(c.Calls),
		Restore:   c.Restore,
		DryRun:    c.DryRun,
	}
	if c.DryRun {
		work.Loader, work.Preview = importer.DryRunLoader(), in.Preview()
		err := work.Run(ctx)
		if reviewfile.EndsReading(err) && ctx.Err() == nil {
			return err
		}
		return printReport(term.Out, work, 0, errors.Join(err, printPreview(term.Out, work.Preview, c.languageFlag())))
	}
	opening := Opening{Owner: "talkback import", Create: c.CreateTable || flags.local()}
	return flags.with(ctx, opening, term, func(session *Session) error { return c.importInto(ctx, session, work, target, term) })
}

// checkMode returns an error if flags contradict each other.
func (c *Import) checkMode() error {
	switch {
	case c.List && c.Undo != "":
		return errors.New("--list and --undo are two commands: give one")
	case (c.List || c.Undo != "") && c.File != "":
		return errors.New("--list and --undo read no file: leave it out")
	case (c.List || c.Undo != "") && (c.Restore || c.Replace || c.Update || c.Revive || c.Name != ""):
		return errors.New("--list and --undo read no file: leave out --restore, --replace, --update, --revive and --name")
	case c.Undo != "" && c.DryRun:
		return errors.New("--undo has no dry run: --list prints how many comments an import added")
	case !c.List && c.Undo == "" && c.File == "":
		return errors.New("name the file of reviews to import, - for standard input; --list prints earlier imports, and --undo takes one back")
	case c.Replace && !c.Restore && !restore.IsExport(c.File):
		return errors.New("--replace makes the table equal to an export: add --restore, or use --update for a file of reviews")
	case c.Replace && c.Revive:
		return errors.New("--replace writes deleted comments again if the export has them: leave out --revive")
	case c.Update && c.Revive:
		return errors.New("--update changes comments that are there, and --revive writes deleted ones: give one")
	case c.Undo+c.Name == "":
		return nil
	case c.Restore && c.Name != "":
		return errors.New("a restore has no name: leave out --name")
	}
	return importer.CheckName(cmp.Or(c.Undo, c.Name))
}

// report prints what the import will do, before anything is written, and asks the user of a
// terminal for confirmation. It reads a file to its end, but only the first rows of standard input.
func (c *Import) report(ctx context.Context, in *importer.Input, rejects *importer.Rejects, options reviewfile.Options, term Terminal) error {
	var preview *importer.Preview
	var err error
	if in.Size() < 0 { // not a regular file: it can be read only once
		preview, err = in.Peek(ctx, importer.ChunkRows(c.Calls))
	} else if again, failed := importer.Open(ctx, c.File, options, term.In); failed != nil {
		err = failed
	} else {
		preview, err = importer.Rehearse(ctx, again, rejects, output.NewProgress(term.Err, again.Size(), "rows checked"))
	}
	if errors.Is(err, context.Canceled) {
		err = errors.New("interrupted. Run it again")
	}
	if err != nil {
		return fmt.Errorf("nothing was imported: %w", err)
	}
	if err := printPreview(term.Out, preview, c.languageFlag()); err != nil {
		return err
	}
	if c.Yes || preview.Rows == 0 || c.File == reviewfile.StandardInput || !asks(term) {
		return nil
	}
	return confirm(ctx, term, "Import these rows?", "imported")
}

func (c *Import) importInto(ctx context.Context, session *Session, work *importer.Import, target keeper.Target, term Terminal) error {
	loader := dynamo.NewLoader(session.Client, session.Table, c.Calls)
	loader.Revive, loader.Marks = c.Revive, erasure.NewMarks(session.Client, session.Table)
	loader.Marks.Exact = c.Restore
	work.Loader = loader
	if c.Update {
		loader.Update = importer.Updating(work.Input.Preview().Mapping.Has)
	}
	replacing := restorer(session, c.Calls, c.Replace)
	if c.Replace {
		work.Loader, replacing.Lines = importer.Replacing{Loader: replacing}, true
	}
	registry := importer.NewRegistry(session.Client, session.Table)
	waited, err := withCounting(ctx, session, target, c.NoCount, "All rows are in", term, func(ctx context.Context) error {
		if c.Restore {
			return c.restoreFile(ctx, work, replacing, term)
		}
		var begun importer.Listed
		work.Begin = func(ctx context.Context) (err error) {
			file := output.Printable(filepath.Base(reviewfile.Named(c.File)))
			name := cmp.Or(c.Name, strings.ToValidUTF8(file[:min(len(file), importer.MaxName)], ""))
			if begun, err = registry.Begin(ctx, name); err != nil {
				return err
			}
			loader.Import = begun.Number
			work.Note = func(ctx context.Context, written, updated int) error {
				return registry.Note(ctx, begun, written, updated)
			}
			return nil
		}
		failed := work.Run(ctx)
		if loader.Import == 0 {
			return failed // nothing was written, so it is not listed
		}
		// Also after an interruption, so that --list shows what was written.
		ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), endTimeout)
		defer cancel()
		written, updated := work.Wrote()
		err := registry.End(ending, begun, written, updated)
		return cmp.Or(failed, err)
	})
	return printReport(term.Out, work, waited, err)
}

// restoreFile restores a file of talkback export, and does not name the import.
func (c *Import) restoreFile(ctx context.Context, work *importer.Import, loader *restore.Loader, term Terminal) error {
	if err := work.Run(ctx); err != nil {
		return err
	}
	if work.Rejected() > 0 && c.Replace {
		return &importer.UnreplacedError{Reason: "nothing was deleted: the rejected rows may hold comments of the table; correct the file, and run it again"}
	}
	err := removeOthers(ctx, loader, term)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, restore.ErrNoComments):
		return &importer.UnreplacedError{Reason: "nothing was deleted: " + err.Error()}
	case errors.Is(err, context.Canceled):
		err = errors.New("interrupted")
	}
	return &importer.UnreplacedError{Reason: fmt.Sprintf("not all comments that the file lacks are deleted: %v. Run it again: it continues where it stopped", err)}
}

// endTimeout bounds the time in which an interrupted import notes what it wrote.
const endTimeout = 5 * time.Second

// languageFlag returns the flag that sets the language of rows without a column.
func (c *Import) languageFlag() string {
	if c.Detect != "" {
		return "--detect-language " + c.Detect
	}
	return "--language " + c.Language
}

// printReport prints what became of the rows of an import, which may have ended with an error.
func printReport(out io.Writer, work *importer.Import, waited time.Duration, err error) error {
	summary, err := work.Report(err, waited)
	if summary == "" {
		return err
	}
	_, unwritten := fmt.Fprintln(out, importedText(summary, output.ScreenOf(out)))
	return errors.Join(unwritten, err)
}

// importedText formats the report of an import: a summary in the first line, notices in the others.
func importedText(summary string, screen output.Screen) string {
	lines := strings.Split(summary, "\n")
	for i := 1; i < len(lines); i++ {
		lines[i] = screen.Notice(lines[i])
	}
	return screen.Fold(strings.Join(lines, "\n"))
}

const minAuthorSecret = 16

// Options returns the options of reading the file. An error names the wrong flag.
func (c *Import) Options() (reviewfile.Options, error) {
	o := reviewfile.Options{
		Format: reviewfile.FormatOf(c.File), From: strings.TrimPrefix(c.From, "none"), Customers: c.Customers, Restore: c.Restore, Whole: c.Replace, MediaBase: c.MediaBase, ShopName: c.ShopName, AuthorsAsTheyAre: c.AsTheyAre,
	}
	if c.Format != "" && c.Format != "auto" {
		o.Format = reviewfile.Format(c.Format)
	}
	if err := checkShopName(c.ShopName); err != nil {
		return o, err
	}
	if c.Restore && (c.Customers || c.HashAuthors || c.Update || o.From+c.TimeZone+c.Language+c.Detect != "" || len(c.Map)+len(c.LanguageOf) > 0) {
		return o, errors.New("--restore takes every field from the file: leave out --from, --map, --language, --language-of, --detect-language, --time-zone, --hash-authors, --authors-are-customers and --update")
	}
	switch {
	case c.Language != "" && c.Detect != "":
		return o, errors.New("--language and --detect-language both give the language of rows without one: give one")
	case !c.HashAuthors: // the secret may be set for other imports
	case c.Customers || c.AsTheyAre:
		return o, errors.New("--hash-authors changes the ids: leave out --authors-are-customers and --authors-as-they-are")
	case len(c.AuthorSecret) < minAuthorSecret:
		return o, fmt.Errorf("--hash-authors needs a secret of at least %d characters: set TALKBACK_AUTHOR_SECRET to what openssl rand -hex 32 prints, and keep it for the next import", minAuthorSecret)
	default:
		o.AuthorKey = []byte(c.AuthorSecret)
	}
	if c.TimeZone != "" {
		zone, err := time.LoadLocation(c.TimeZone)
		if err != nil {
			return o, fmt.Errorf("--time-zone %s is not known: give a name such as Europe/Berlin", c.TimeZone)
		}
		o.Zone = zone
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

func parseMap(flags []string) (map[reviewfile.Field]string, error) {
	columns := map[reviewfile.Field]string{}
	for _, flag := range flags {
		name, column, found := strings.Cut(flag, "=")
		fields := reviewfile.Fields()
		at := slices.IndexFunc(fields, func(f reviewfile.Field) bool { return strings.EqualFold(string(f), strings.TrimSpace(name)) })
		if !found || at < 0 {
			return nil, fmt.Errorf("--map %s: give FIELD=COLUMN with one of the fields %v", flag, fields)
		}
		if _, twice := columns[fields[at]]; twice {
			return nil, fmt.Errorf("--map gives two columns for %s: give one", fields[at])
		}
		columns[fields[at]] = strings.TrimSpace(column)
	}
	return columns, nil
}

func parseLanguageOf(flags []string) (map[string]comment.Language, error) {
	languages := map[string]comment.Language{}
	for _, flag := range flags {
		at := strings.LastIndexByte(flag, '=') // tags contain none
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

// newRejects opens the file for rejected rows. A dry run without --rejects prints them instead.
func (c *Import) newRejects(flags *EngineFlags, in *importer.Input, term Terminal) (*importer.Rejects, error) {
	path := c.Rejects
	switch {
	case path == "" && c.DryRun:
		return importer.PrintRejects(term.Err), nil
	case path == "" && c.File == reviewfile.StandardInput:
		path = "talkback.rejects.tsv"
	case path == "":
		path = c.File + ".rejects.tsv"
	}
	if err := flags.checkOutput(path); err != nil {
		return nil, err
	}
	rejects, err := importer.NewRejects(path, c.Force, in)
	if errors.Is(err, importer.ErrRejectsIsInput) || errors.Is(err, importer.ErrRejectsOnStandardOutput) {
		err = asUsage(err)
	}
	return rejects, err
}
