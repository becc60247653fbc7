package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/call"
	"github.com/talkback/talkback/dynamo/counts"
	"github.com/talkback/talkback/internal/output"
	"github.com/talkback/talkback/internal/reviewfile"
	"github.com/talkback/talkback/internal/task"
	"github.com/talkback/talkback/pageindex"
	"github.com/talkback/talkback/pageindex/keeper"
	"github.com/talkback/talkback/pageindex/objects"
	"github.com/talkback/talkback/pageindex/table"
	"github.com/talkback/talkback/stream"
)

// PagesFlag says where page numbers are stored.
type PagesFlag struct {
	Pages string `help:"Where page numbers are kept: ${pages}. All processes that count need the same one. Put a password into the variable, not the command line (default: ${default})." placeholder:"STORE" default:"table" password:"variable"`
}

// OnlyPagesFlag says where page numbers are stored. If it is on the command line, the command is
// about page numbers only.
type OnlyPagesFlag struct {
	Pages string `help:"Handle page numbers only, those in this store: ${pages}. Without a value, the store that the variable names (default: table); the variable alone does not restrict the command." placeholder:"STORE" type:"store" password:"variable"`
}

// target returns the store that the flag names. only reports that the flag is on the command line.
func (f OnlyPagesFlag) target(line *kong.Context) (target keeper.Target, only bool, err error) {
	only = isGiven(line, "pages")
	target, err = PagesFlag{cmp.Or(f.Pages, keeper.InTable)}.target()
	if err == nil && only && target.Name == keeper.Nowhere {
		err = usagef("--pages none keeps no page numbers: name the place where they are kept")
	}
	return target, only, err
}

func (f PagesFlag) target() (keeper.Target, error) {
	t, err := keeper.Parse(f.Pages, keeper.Kinds())
	return t, asUsage(err)
}

// pages maintains the page numbers of a table in a process. For those inside the table, it only
// makes sure that no other store misses comments unnoticed.
type pages struct {
	target keeper.Target
	store  pageindex.Store // the store to feed; nil for none
	keeper *keeper.Keeper
	table  *table.Index    // nil unless the target is the table
	found  pageindex.Index // finds pages by number; nil for none
	log    *slog.Logger

	counter *counts.Counter // nil in a process that does not count
}

// firstTry is how long opening a store may take before a command continues without it.
const firstTry = 2 * time.Second

// openPages opens the store of a target. A store that does not answer is opened later.
func openPages(ctx context.Context, target keeper.Target, session *Session, log *slog.Logger) (*pages, error) {
	p := &pages{target: target, log: log}
	shared, numbers := newLeases(session), call.For(session.Client, call.ForPageNumbers)
	opening, cancel := context.WithTimeout(ctx, firstTry)
	defer cancel()
	kept, err := keeper.Open(opening, target, numbers, session.Table, keeper.Options{
		Progress: shared, Entries: counts.NewEntries(numbers, session.Table), Who: session.process(), Engine: session.run, Logger: log,
	})
	if err != nil {
		return nil, asUsage(err)
	}
	p.keeper, p.store = kept, kept.Store
	switch {
	case p.store != nil:
		p.found = p.keeper
	case target.Name == keeper.InTable:
		p.table = table.New(numbers, session.Table)
		p.found = keeper.NewTimely(p.table, shared)
	}
	return p, nil
}

// withPages opens the page numbers of the table, calls use, and closes them.
func (s *Session) withPages(ctx context.Context, target keeper.Target, log *slog.Logger, use func(*pages) error) (err error) {
	pages, err := openPages(ctx, target, s, log)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, pages.Close()) }()
	return use(pages)
}

// withPages opens the table and its page numbers for a command, and passes both to use.
func (f *EngineFlags) withPages(ctx context.Context, target keeper.Target, command string, term Terminal, use func(*Session, *pages) error) error {
	return f.with(ctx, Opening{Owner: command}, term, func(session *Session) error {
		return session.withPages(ctx, target, term.Logger, func(pages *pages) error { return use(session, pages) })
	})
}

// elsewhere returns the name of a complete store outside the table, empty if there is none. The
// processes that count store page numbers there, or did until now.
func (p *pages) elsewhere(ctx context.Context, session *Session) (string, error) {
	state, _, err := newLeases(session).Current(ctx)
	if err != nil {
		return "", err
	}
	stores, err := p.status(ctx, state)
	if i := slices.IndexFunc(stores, func(s keeper.Status) bool { return s.Complete }); i >= 0 {
		return stores[i].Name, nil
	}
	return "", err
}

// newCounter makes the counter of a session's table, which also feeds the page numbers. It reports
// changes to the follower, nil for none.
func (p *pages) newCounter(session *Session, follower counts.Follower) *counts.Counter {
	options := counts.CounterOptions{Feed: p.keeper, Logger: p.log, Follower: follower, Patience: counts.Patience, VotesAtOnce: counts.VotesAtOnce}
	if p.table != nil {
		options.Pages = p.table
	}
	counter := counts.NewCounter(call.For(session.Client, call.ForCounting), session.Table, options)
	if p.table != nil {
		p.table.OnUnsplit(counter.MergePages)
		p.counter = counter
	}
	return counter
}

// rebuilding returns the options to rebuild the statistics and page numbers of a session's table.
func (p *pages) rebuilding(session *Session) counts.RebuildOptions {
	options := counts.RebuildOptions{Who: session.process(), Engine: session.run, Feed: p.keeper, Lost: session.outbox().Lost, Logger: p.log}
	if p.table != nil {
		options.Pages = p.table
	}
	return options
}

// lastMerges is how long an ending command waits for merges. The next process does the rest.
const lastMerges = 3 * time.Second

// Close waits for merges of the counter, and closes the store.
func (p *pages) Close() error {
	if p.counter != nil {
		ctx, cancel := context.WithTimeout(context.Background(), lastMerges)
		defer cancel()
		p.counter.AwaitMerges(ctx)
	}
	if p.store == nil {
		return nil
	}
	return p.store.Close()
}

// explain adds the cure to the error of a database that does not answer. Objects name their own.
func (p *pages) explain(err error) error {
	kind := comment.KindOf(err)
	if p.target.Outside() && !p.target.Kind.Local && p.target.Kind.Scheme != "s3" && len(failedCalls(err)) == 0 && !keeper.Answered(err) && (kind == comment.Unavailable || kind == comment.Timeout) {
		return fmt.Errorf("%w: see that the database of --pages answers, or name another store", err)
	}
	return err
}

// Beside keeps the store complete while work runs, and returns the error of work.
func (p *pages) Beside(ctx context.Context, work func(context.Context) error) error {
	if p.store == nil {
		return work(ctx)
	}
	return task.Beside(ctx, p.keeper.Run, work)
}

// status returns the status of each store that the table knows; the flag's store reports its own.
func (p *pages) status(ctx context.Context, state stream.State) ([]keeper.Status, error) {
	registry, err := p.keeper.Table.Registry(ctx)
	if err != nil {
		return nil, err
	}
	var out []keeper.Status
	if p.store != nil {
		own, err := p.keeper.Status(ctx)
		if err != nil {
			return nil, err
		}
		if own.Away != nil {
			own.Away = errors.New(plainly(own.Away, p.log))
		}
		out = append(out, own)
	}
	for _, name := range slices.Sorted(maps.Keys(registry.Stores)) {
		if p.store == nil || name != p.target.Name {
			out = append(out, registry.Stores[name].StatusOf(name, state))
		}
	}
	return out, nil
}

// Pages makes the files of page numbers from an export.
type Pages struct {
	Do    string `arg:"" name:"what" enum:"build" help:"What to do: build."`
	From  string `required:"" complete:"files" help:"File of export, plain or gzip; - for standard input." placeholder:"FILE"`
	To    string `required:"" type:"path" help:"Folder of the index. It is made if it is missing; no process may have it open." placeholder:"FOLDER"`
	Force bool   `help:"Replace an index that a server has built."`
}

// indexed is how many comments are added to an index at a time.
const indexed = 1000

// Run makes the files and prints the number of comments. After an error the folder is unchanged.
func (c *Pages) Run(ctx context.Context, term Terminal) (err error) {
	source, err := task.Await(ctx, func() (*reviewfile.Source, error) { return reviewfile.Open(c.From, term.In) })
	if err != nil {
		return err
	}
	defer func() { _ = source.Close() }() // it was only read
	store, err := objects.OpenFolder(ctx, c.To)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	if covers, err := store.Covers(ctx); err != nil || covers != "" && !c.Force {
		return errors.Join(err, fmt.Errorf("%s holds an index that a server has built: give another folder, or --force to replace it", c.To))
	}
	build, err := store.Build(ctx)
	if err != nil {
		return err
	}
	progress := output.NewProgress(term.Err, source.Size, "comments")
	count, err := c.add(ctx, source, build, progress)
	took := progress.End()
	if err != nil {
		return fmt.Errorf("no index was made of %s: %w", output.Printable(reviewfile.Named(c.From)), err)
	}
	if err := build.Finish(ctx, ""); err != nil {
		return err
	}
	_, err = output.English.Fprintf(term.Out, "%s indexed in %s in %.1f s (%s/s)\n"+
		"A server with --pages files:%s does not know how old they are: it builds the index anew from its table.\n",
		output.Count(count, "comment", "comments"), output.Printable(c.To), took.Seconds(), output.Count(output.Rate(count, took), "comment", "comments"), output.Printable(c.To))
	return err
}

// add adds all comments of an export to an index. It stops at a row that cannot be read: if one is
// missing, every rank behind it is wrong.
func (c *Pages) add(ctx context.Context, source *reviewfile.Source, build pageindex.Build, progress *output.Progress) (count int, err error) {
	reader, err := task.Await(ctx, func() (*reviewfile.Reader, error) {
		return reviewfile.NewReader(source, reviewfile.Options{Format: reviewfile.FormatOf(c.From), Restore: true})
	})
	for ended := false; err == nil && !ended; {
		// The next read of a pipe may never return. Do not wait for that.
		entries, err := task.Await(ctx, func() (entries []pageindex.Entry, err error) {
			for len(entries) < indexed {
				row, err := reader.Next()
				if bad, is := errors.AsType[*reviewfile.RowError](err); is {
					bad.Reason = strings.TrimSuffix(bad.Reason, reviewfile.WithoutRestore)
				}
				if err != nil {
					return entries, err
				}
				if row.Comment.Status == comment.Approved { // others are in no list
					entries = append(entries, pageindex.Entry{Product: row.Comment.ProductID, Position: row.Comment.ID.Position(), Cell: new(row.Comment.Cell())})
				}
			}
			return entries, nil
		})
		if ended = errors.Is(err, io.EOF); err != nil && !ended {
			return count, err
		}
		if err := build.Add(ctx, entries); err != nil {
			return count, err
		}
		count += len(entries)
		progress.Show(count, source.Taken())
	}
	return count, err
}
