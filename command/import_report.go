package command

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/internal/importer"
	"github.com/talkback/talkback/internal/output"
	"github.com/talkback/talkback/internal/reviewfile"
	"github.com/talkback/talkback/internal/task"
)

// confirm asks the user of a terminal whether to go on. Unless the answer is y, its error says that
// nothing was done; not is the verb.
func confirm(ctx context.Context, t Terminal, question, not string) error {
	fmt.Fprint(t.Err, question+" [y/N] ")
	answer, err := task.Await(ctx, func() (string, error) { return bufio.NewReader(t.In).ReadString('\n') })
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if answer = strings.ToLower(strings.TrimSpace(answer)); answer != "y" && answer != "yes" {
		return fmt.Errorf("nothing was %s: the answer was not y", not)
	}
	return nil
}

// asks reports whether a user sees the report and can answer.
func asks(t Terminal) bool {
	in, isFile := t.In.(*os.File)
	return isFile && term.IsTerminal(int(in.Fd())) && output.Is(t.Out)
}

// printPreview prints the report, and an empty line to separate it from the result of the import.
func printPreview(out io.Writer, p *importer.Preview, language string) error {
	_, err := fmt.Fprintln(out, previewText(p, language, output.ScreenOf(out)))
	return err
}

// previewText formats a report for a screen: columns, numbers of rows, the most frequent languages
// and products, and samples.
func previewText(p *importer.Preview, language string, screen output.Screen) string {
	var out strings.Builder
	out.WriteString(mappingText(p.Mapping, language, screen))
	first := output.Count(p.Rows+p.Rejected, "row: ", "rows: ")
	if p.Partial {
		first = "The first " + output.Count(p.Rows+p.Rejected, "row", "rows") + ", since standard input is read only once: "
	}
	parts := []string{output.English.Sprintf("%d published", p.States[comment.Approved])}
	for _, part := range []struct {
		count int
		what  string
	}{
		{p.States[comment.Pending], "%d waiting for a moderator"}, {p.Spam, "%d hidden as spam"},
		{p.States[comment.Rejected] - p.Spam, "%d hidden"}, {p.States[comment.Withdrawn], "%d withdrawn"}, {p.Rejected, "%d rejected"},
	} {
		if part.count > 0 {
			parts = append(parts, output.English.Sprintf(part.what, part.count))
		}
	}
	out.WriteString(screen.Fold(first+strings.Join(parts, ", ")) + "\n")
	if p.Repeated > 0 {
		out.WriteString(screen.Fold(output.Count(p.Repeated, "of them has the id of an earlier row, and is left out", "of them have the id of an earlier row, and are left out")) + "\n")
	}
	for _, reason := range p.Reasons.Top() {
		out.WriteString(screen.Fold(output.English.Sprintf("  %d: %s", reason.Count, output.Printable(reason.Text))) + "\n")
	}
	if p.WholeFloats() {
		out.WriteString(screen.Notice(screen.Fold(fmt.Sprintf("All product ids have a fraction of zero, such as %s, from line %d on: a program took whole numbers for floating-point ones. "+
			"Unless these are your ids, have it read the column as text (in pandas, dtype=str), and write the file again", p.Samples[0].ProductID, p.Line))) + "\n")
	}
	out.WriteString(tallyText("LANGUAGE", p.Languages, screen))
	out.WriteString(tallyText("PRODUCT", p.Products, screen))
	if len(p.Samples) > 0 {
		out.WriteString("\n" + screen.Head("Samples") + "\n")
	}
	for _, c := range p.Samples {
		out.WriteString(sampleText(c, screen))
	}
	return out.String()
}

func mappingText(m reviewfile.Mapping, language string, screen output.Screen) string {
	if len(m.Fields) == 0 {
		return ""
	}
	table := output.NewTable("FIELD", "COLUMN", "")
	hasLanguage := false
	for _, f := range m.Fields {
		note := ""
		if len(f.Others) > 0 {
			note = fmt.Sprintf("not %s, which --map %s=COLUMN takes", output.Printable(strings.Join(f.Others, ", ")), f.Field)
		}
		hasLanguage = hasLanguage || f.Field == reviewfile.Language
		table.Row(string(f.Field), output.Printable(f.Column), note)
	}
	if !hasLanguage {
		table.Row(string(reviewfile.Language), "", language)
	}
	text := table.On(screen)
	if m.Media != "" {
		text += screen.Notice(screen.Fold(fmt.Sprintf("Pictures in %s are left out: --media-base takes them", output.Printable(m.Media)))) + "\n"
	}
	if len(m.Ignored) > 0 {
		text += screen.Notice(screen.Fold("Ignored columns: "+output.Printable(strings.Join(m.Ignored, ", ")))) + "\n"
	}
	return text + "\n"
}

func tallyText(head string, t importer.Tally, screen output.Screen) string {
	top := t.Top()
	if len(top) == 0 {
		return ""
	}
	table := output.NewTable(head, "ROWS")
	for _, c := range top {
		table.Row(output.Printable(c.Text), output.English.Sprint(c.Count))
	}
	text, what := "\n"+table.On(screen), "more "+strings.ToLower(head)
	switch {
	case t.Lossy:
		text += screen.Fold("and very many "+what+"s; these numbers are lower bounds") + "\n"
	case t.Len() > len(top):
		text += screen.Fold("and "+output.Count(t.Len()-len(top), what, what+"s")) + "\n"
	}
	return text
}

// maxSampleText bounds a sample's text, in characters.
const maxSampleText = 200

// sampleText formats a row as it would appear on a product page.
func sampleText(c comment.Comment, screen output.Screen) string {
	head := fmt.Sprintf("%s, %s, %s, %s", c.ProductID, c.Author.Name, c.Language, c.CreatedAt().Format("2006-01-02 15:04"))
	if c.Status != comment.Approved {
		head += ", " + strings.ToLower(c.Status.String())
	}
	if c.Verified {
		head += ", verified"
	}
	if len(c.Media) > 0 {
		head += ", with pictures or videos"
	}
	text := screen.Fold(screen.Stars(starsOf(c.Rating))+" "+output.Printable(head)) + "\n"
	if c.Title != nil {
		text += screen.Fold("  "+output.Printable(*c.Title)) + "\n"
	}
	width := min(cmp.Or(screen.Columns, output.Readable), output.Readable)
	text += showText(cutText(c.Text), width)
	if c.Reply != nil {
		text += screen.Fold("  "+output.Printable(c.Reply.Name)+" replied:") + "\n" + showText(cutText(c.Reply.Text), width)
	}
	return text
}

func cutText(text string) string {
	if runes := []rune(text); len(runes) > maxSampleText {
		return string(runes[:maxSampleText]) + "…"
	}
	return text
}
