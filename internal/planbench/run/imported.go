package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/talkback/talkback/command"
	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo"
	"github.com/talkback/talkback/internal/planbench"
	"github.com/talkback/talkback/internal/reviewfile"
)

// tableName is the name of the table that is imported into.
const tableName = "comments"

// measureImported imports the products of all sets into one table of the local engine, whose program
// is given, and measures processes that are then started on it.
func measureImported(ctx context.Context, engine string, sets [][][]comment.Comment, summary *planbench.Summary) (err error) {
	folder, err := os.MkdirTemp("", "talkback-plans-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	products := together(sets)
	flags := command.EngineFlags{Data: filepath.Join(folder, "data"), EngineFile: engine, Table: tableName}
	if err := importAll(ctx, products, filepath.Join(folder, "comments.jsonl"), flags); err != nil {
		return err
	}
	session, err := flags.Open(ctx, command.Opening{Owner: "bench-plans"}, command.StandardTerminal())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, session.Close()) }()
	return planbench.MeasureImported(ctx, products, func(ctx context.Context) (*dynamo.Store, error) {
		store := dynamo.NewStore(session.Client, session.Table)
		return store, store.LoadPrior(ctx, slog.Default())
	}, summary)
}

// together returns the products of all sets. Lone products, whose ids are alike, are renamed.
func together(sets [][][]comment.Comment) (products [][]comment.Comment) {
	for i, set := range sets {
		for _, comments := range set {
			if len(set) == 1 {
				comments = slices.Clone(comments)
				for j := range comments {
					comments[j].ProductID += fmt.Sprint("-", i)
				}
			}
			products = append(products, comments)
		}
	}
	return products
}

// importAll imports all comments with the program's own command, in the order in which they were
// written.
func importAll(ctx context.Context, products [][]comment.Comment, file string, flags command.EngineFlags) error {
	comments := slices.Concat(products...)
	slices.SortFunc(comments, func(a, b comment.Comment) int { return a.ID.Position().Compare(b.ID.Position()) })
	if err := export(comments, file); err != nil {
		return err
	}
	term, said := command.StandardTerminal(), new(strings.Builder)
	term.Out, term.Err = said, said
	if command.Main(ctx, []string{"import", file, "--data", flags.Data, "--engine", flags.EngineFile, "--table", flags.Table}, term) != 0 {
		return fmt.Errorf("the import failed: %s", said)
	}
	return nil
}

// export writes comments as the program exports them.
func export(comments []comment.Comment, file string) (err error) {
	out, err := os.Create(file)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	buffered := bufio.NewWriter(out)
	var line []byte
	for _, c := range comments {
		if line, err = reviewfile.Append(line[:0], c); err != nil {
			return err
		}
		if _, err := buffered.Write(line); err != nil {
			return err
		}
	}
	return buffered.Flush()
}
