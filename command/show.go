package command

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo"
	"github.com/talkback/talkback/internal/output"
)

// Show prints one comment.
type Show struct {
	ID string `arg:"" help:"Id of the comment: c_ and 26 characters."`
}

// Run prints the comment and its keys.
func (c *Show) Run(ctx context.Context, flags *EngineFlags, term Terminal) error {
	id, err := comment.ParseID(c.ID)
	if err != nil {
		return asUsage(err)
	}
	return flags.with(ctx, Opening{Owner: "talkback show"}, term, func(session *Session) error {
		inspection, err := dynamo.NewStore(session.Client, session.Table, dynamo.Options{}).Inspect(ctx, id)
		if err != nil {
			return err
		}
		width := min(output.Columns(term.Out), output.Readable)
		_, err = io.WriteString(term.Out, inspectionText(inspection, width, output.ScreenOf(term.Out)))
		return err
	})
}

// inspectionText formats a comment and its keys for a screen. It wraps texts to a width.
func inspectionText(i dynamo.Inspection, width int, screen output.Screen) string {
	var out strings.Builder
	out.WriteString(showComment(i.Comment, width, screen))
	if i.CompressedBytes > 0 {
		out.WriteString(screen.Fold(output.English.Sprintf("The text is stored compressed, in %d bytes instead of %d.\n\n", i.CompressedBytes, len(i.Comment.Text))))
	}
	out.WriteString(screen.Fold(screen.Head("Keys") + ", with the size of the entry and the cost of reading it alone\n"))
	for _, e := range i.Entries {
		name, cost := string(e.Index), fmt.Sprintf("%.1f read units", e.ReadUnits(false))
		if e.Index == "" {
			name, cost = "table", cost+fmt.Sprintf(", %.1f consistently", e.ReadUnits(true))
		}
		out.WriteString("\n" + screen.Hang("  "+name, 19, output.English.Sprintf("%d bytes, %s", e.Bytes, cost)))
		for _, key := range [][2]string{{e.PartitionAttr, e.PartitionKey}, {e.SortAttr, e.SortKey}} {
			out.WriteString(screen.Hang("    "+screen.Faint(key[0]), 12, output.Printable(key[1])))
		}
	}
	return out.String()
}

func showComment(c comment.Comment, width int, screen output.Screen) string {
	var out strings.Builder
	stars := starsOf(c.Rating)
	head := stars
	if c.Title != nil {
		head += "  " + output.Printable(*c.Title)
	}
	for i, line := range output.Wrap(head, width) {
		if i == 0 {
			line = strings.Replace(line, stars, screen.Stars(stars), 1)
		}
		fmt.Fprintln(&out, line)
	}
	fmt.Fprintln(&out)
	author := c.Author.ID
	if c.Author.Imported {
		author = "imported: " + author
	}
	rows := [][2]string{
		{"id", string(c.ID)},
		{"product", output.Printable(c.ProductID)},
		{"language", output.Printable(string(c.Language))},
		{"author", fmt.Sprintf("%s (%s)", output.Printable(c.Author.Name), output.Printable(author))},
		{"written", timeText(c.CreatedAt())},
		{"edited", timeOr(c.UpdatedAt, "never")},
		{"version", fmt.Sprint(c.Version)},
	}
	for _, row := range append(rows, showState(c)...) {
		out.WriteString(screen.Hang(screen.Faint(row[0]), 10, row[1]))
	}
	return out.String() + "\n" + showText(c.Text, width) + "\n"
}

// showState describes the state of a comment; an approved one that waits for no moderator has none.
func showState(c comment.Comment) (rows [][2]string) {
	m := comment.Moderation{}
	if c.Moderation != nil {
		m = *c.Moderation
	}
	state := strings.ToLower(c.Status.String())
	if m.Reason != nil {
		state += ": " + output.Printable(string(*m.Reason))
	}
	if c.Status != comment.Approved {
		rows = append(rows, [2]string{"status", state})
	}
	if len(m.Held) > 0 {
		rows = append(rows, [2]string{"waits", output.Printable(fmt.Sprintf("since %s: %v", timeText(m.Since), m.Held))})
	}
	if m.HeldEdit != nil {
		rows = append(rows, [2]string{"edit", fmt.Sprintf("version %d waits, of %s", m.HeldEdit.Version, timeText(m.HeldEdit.At))})
	}
	if m.Reports > 0 {
		rows = append(rows, [2]string{"reports", fmt.Sprint(m.Reports)})
	}
	return rows
}

// showText formats a text, indented and wrapped; its own line breaks stay.
func showText(text string, width int) string {
	const indent = "  "
	if text == "" {
		return indent + "(no text)\n"
	}
	var out strings.Builder
	for paragraph := range strings.SplitSeq(text, "\n") {
		for _, line := range output.Wrap(output.Printable(paragraph), width-len(indent)) {
			fmt.Fprintln(&out, strings.TrimRight(indent+line, " "))
		}
	}
	return out.String()
}
