package command

import (
	"errors"
	"fmt"
	"io"

	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/internal/terminal"
)

// printImproper prints the keys of invalid items, one per line.
func printImproper(out io.Writer, items []layout.Improper) error {
	for _, item := range items {
		if _, err := fmt.Fprintln(out, terminal.Printable(item.String())); err != nil {
			return err
		}
	}
	return nil
}

// improperError returns an error if there are invalid items.
func improperError(items []layout.Improper) error {
	if len(items) == 0 {
		return nil
	}
	return errors.New(terminal.English.Sprintf("%d items are invalid and not counted: repair or delete them by the keys above", len(items)))
}
