package command

import (
	"errors"
	"fmt"
	"strings"

	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/internal/output"
)

// improperText lists the keys of invalid items, one per line.
func improperText(items []layout.Improper) string {
	var text strings.Builder
	for _, item := range items {
		fmt.Fprintln(&text, output.Printable(item.String()))
	}
	return text.String()
}

// improperError returns an error if there are invalid items.
func improperError(items []layout.Improper) error {
	if len(items) == 0 {
		return nil
	}
	return errors.New(output.English.Sprintf("%d items are invalid and not counted: repair or delete them by the keys above", len(items)))
}
