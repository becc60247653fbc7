package command

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/internal/output"
)

// printFolded prints a text, whose lines are folded where the output is a terminal.
func printFolded(out io.Writer, text string) error {
	_, err := io.WriteString(out, output.ScreenOf(out).Fold(text))
	return err
}

func printJSON(out io.Writer, value any) error {
	encoder := json.NewEncoder(out)
	encoder.SetIndent("", "  ")
	return encoder.Encode(value)
}

func timeText(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05.000 UTC") }

func timeOr(t *time.Time, none string) string {
	if t == nil {
		return none
	}
	return timeText(*t)
}

func starsOf(rating int) string {
	return strings.Repeat("★", rating) + strings.Repeat("☆", comment.MaxRating-rating)
}

func improperText(items []layout.Improper) string {
	var text strings.Builder
	for _, item := range items {
		fmt.Fprintln(&text, output.Printable(item.String()))
	}
	return text.String()
}

func improperError(items []layout.Improper) error {
	if len(items) == 0 {
		return nil
	}
	return errors.New(output.Count(len(items), "item is invalid and not counted: repair or delete it by the key above",
		"items are invalid and not counted: repair or delete them by the keys above"))
}

// stopped explains why work on the whole table ended before its end; again says how to go on. A
// conflict with another process explains itself.
func stopped(err error, work, again string) error {
	switch {
	case errors.Is(err, context.Canceled):
		return fmt.Errorf("%s was interrupted; %s", work, again)
	case comment.KindOf(err) == comment.Conflict:
		return errors.New(comment.MessageOf(err))
	}
	return fmt.Errorf("%s stopped (%w); %s", work, err, again)
}

// lagText formats a lag: as 1.5 s below a minute, else in whole seconds.
func lagText(lag time.Duration) string {
	if lag < time.Minute {
		return fmt.Sprintf("%.1f s", lag.Seconds())
	}
	return lag.Round(time.Second).String()
}
