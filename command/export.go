package command

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo"
	"github.com/talkback/talkback/internal/output"
	"github.com/talkback/talkback/internal/reviewfile"
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

	Calls int `help:"Number of concurrent calls to the table, at most ${max_calls}. More are faster on AWS; 0 for what suits the local engine (default: ${default})." default:"0" placeholder:"N" type:"calls"`
}

// Run exports, and prints the number of comments. After an error there is no file.
func (c *Export) Run(ctx context.Context, flags *EngineFlags, term Terminal) error {
	if err := c.check(); err != nil {
		return asUsage(err)
	}
	return flags.export(ctx, "talkback export", c.File, c.Force, term, c.write)
}

func (c *Export) check() error {
	other := otherFormat(c.File)
	switch {
	case c.isFeed() && c.All:
		return errors.New("a feed has approved comments only: leave --all out")
	case c.isFeed() && reviewfile.FormatOf(c.File) != "":
		return fmt.Errorf("a feed is XML, and %s would be taken for something else: name it .xml or .xml.gz", c.File)
	case c.isFeed():
		if err := c.feed().Check(); err != nil {
			return err
		}
	case c.Publisher != "" || c.Favicon != "" || c.ProductURL != "":
		return errors.New("--publisher, --favicon and --product-url are for a feed: add --format google-product-reviews")
	case other != "":
		return fmt.Errorf("an export is JSON Lines, and %s would be taken for %s: name it .jsonl or .jsonl.gz; for columns of your choice, "+
			"use jq, as in talkback export - | jq -r '[.id, .product, .rating, .text] | @csv'", c.File, other)
	}
	if c.Product == "" {
		return nil
	}
	if err := comment.CheckProductID(c.Product); err != nil {
		return fmt.Errorf("--product: %w", err)
	}
	return nil
}

func (c *Export) isFeed() bool { return c.Format == "google-product-reviews" }

func (c *Export) feed() *reviewfile.GoogleFeed {
	return &reviewfile.GoogleFeed{Publisher: c.Publisher, Favicon: c.Favicon, ProductURL: c.ProductURL, MediaBase: c.MediaBase}
}

// otherFormat returns the format that a file name suggests, if an export does not write it.
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

// write writes all comments and keeps the file. Its report says what is in it, and what it lacks.
func (c *Export) write(ctx context.Context, e *exporting) (report string, err error) {
	scanner := dynamo.NewScanner(e.session.Client, e.session.Table, c.Calls)
	scanner.Everything, scanner.OnImproper = c.All, e.leaveOut
	comments := scanner.OfProduct(ctx, c.Product)
	if c.Product == "" {
		about, _, err := scanner.Estimate(ctx)
		if err != nil {
			return "", err
		}
		comments = scanner.All(ctx)
		e.progress.Expect(about)
	}
	form, feed := fileForm[comment.Comment]{appendTo: reviewfile.AppendPartial}, c.feed()
	if c.All && c.Product == "" {
		form.appendTo = reviewfile.Append
	}
	if c.isFeed() {
		if form.head, err = feed.Head(); err != nil {
			return "", err
		}
		form.appendTo, form.tail = feed.Append, feed.Tail()
	}
	count, err := writeLines(e.out, c.Gzip || isGzipName(c.File), comments, form, func(count int) { e.progress.Show(count, scanner.Scanned()) })
	took := e.progress.End()
	if err != nil {
		return "", err
	}
	if count == 0 && len(e.improper) == 0 && c.Product != "" {
		return "", noProduct(c.Product)
	}
	if count -= feed.WithoutText; count == 0 && c.isFeed() {
		return "", comment.Errorf(comment.NotFound, "no approved comment in the table has a text, and a feed needs a review: look whether this is the table of the shop")
	}
	report = output.English.Sprintf("%s written to %s in %.1f s (%s/s)", output.Count(count, "comment", "comments"), e.out.Name(), took.Seconds(), output.Count(output.Rate(count, took), "comment", "comments"))
	if feed.WithoutText > 0 {
		report += "\n" + output.Count(feed.WithoutText, "comment has stars and no text, and is not in it: a feed takes none",
			"comments have stars and no text, and are not in it: a feed takes none")
	}
	if hidden := scanner.Hidden(); hidden > 0 {
		report += "\n" + output.Count(hidden, "comment is not approved, and is not in it", "comments are not approved, and are not in it")
		if !c.isFeed() {
			report += "; --all exports all"
		}
	}
	return report, e.out.Keep(ctx)
}
