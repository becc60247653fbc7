// Command run measures what plans cost beside perfect foresight: `make bench-plans`. See package
// planbench.
package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strconv"
	"strings"

	"github.com/talkback/talkback/command"
	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/internal/planbench"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "bench-plans:", err)
		os.Exit(1)
	}
}

// settings are what the flags say. Those about a file mean what they mean to import.
type settings struct {
	file     command.Import
	least    int
	products int
	counts   string
	seed     uint64
	out      string
}

func parse(args []string) (settings, error) {
	var s settings
	flags := flag.NewFlagSet("bench-plans", flag.ContinueOnError)
	flags.StringVar(&s.file.File, "data", "", "file of reviews to measure with, as import takes it; none: generated comments")
	flags.StringVar(&s.file.Format, "format", "", "how the file is written, if its name does not tell: tsv, csv or jsonl")
	flags.StringVar(&s.file.Language, "language", "", "language of all rows, or of those whose column tells none")
	flags.Func("map", "`FIELD=COLUMN`: column of a field; repeatable", appendTo(&s.file.Map))
	flags.Func("language-of", "`VALUE=TAG`: language that a value of the language's column stands for; repeatable", appendTo(&s.file.LanguageOf))
	flags.IntVar(&s.least, "least", 1, "leave out the file's products of fewer comments")
	flags.IntVar(&s.products, "products", 2000, "how many products to generate as a catalogue")
	flags.StringVar(&s.counts, "counts", "1000,10000,100000", "how many comments to generate on one product, one measurement each")
	flags.Uint64Var(&s.seed, "seed", 1, "of the generated comments")
	flags.StringVar(&s.out, "out", "", "write the table to this file with .csv, and the plot with .svg; none: print the table")
	if err := flags.Parse(args); err != nil {
		return s, err
	}
	if flags.NArg() > 0 {
		return s, fmt.Errorf("%q is no flag; see -help", flags.Arg(0))
	}
	return s, nil
}

func appendTo(values *[]string) func(string) error {
	return func(value string) error {
		*values = append(*values, value)
		return nil
	}
}

func run(ctx context.Context, args []string, out io.Writer) error {
	s, err := parse(args)
	if err != nil {
		return err
	}
	sets, err := s.sets()
	if err != nil {
		return err
	}
	var summary planbench.Summary
	for _, products := range sets {
		if err := planbench.MeasureSet(ctx, products, &summary); err != nil {
			return err
		}
	}
	averages := summary.Averages()
	if s.out == "" {
		return planbench.WriteCSV(out, averages)
	}
	var table bytes.Buffer
	if err := planbench.WriteCSV(&table, averages); err != nil {
		return err
	}
	if err := os.WriteFile(s.out+".csv", table.Bytes(), 0o644); err != nil {
		return err
	}
	return os.WriteFile(s.out+".svg", planbench.Plot(averages), 0o644)
}

// sets returns the products to measure, by the sets that averages are taken over.
func (s settings) sets() ([][][]comment.Comment, error) {
	if s.file.File == "" {
		var sets [][][]comment.Comment // a catalogue, and lone products
		if s.products > 0 {
			sets = append(sets, planbench.Catalogue(s.products, s.seed))
		}
		for text := range strings.FieldsFuncSeq(s.counts, func(r rune) bool { return r == ',' }) {
			count, err := strconv.Atoi(text)
			if err != nil || count < 1 {
				return nil, fmt.Errorf("-counts %s: give numbers of comments, such as 1000,10000", s.counts)
			}
			sets = append(sets, [][]comment.Comment{planbench.Generate(count, s.seed)})
		}
		return sets, nil
	}
	options, err := s.file.Options()
	if err != nil {
		return nil, err
	}
	products, err := planbench.ReadFile(s.file.File, options, s.least)
	if err != nil {
		return nil, err
	}
	if len(products) == 0 {
		return nil, fmt.Errorf("%s has no product of at least %d comments", s.file.File, s.least)
	}
	return [][][]comment.Comment{products}, nil
}
