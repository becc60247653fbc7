package command

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// settledRows is from how many rows on a share of them says something about a file. Before its end, fewer are not judged.
const settledRows = 1000

// rejectLimit is how many rows may be rejected before an import stops.
type rejectLimit struct {
	text  string  // as it was given; empty for no limit
	count int     // rows, unless there is a share
	share float64 // of all rows, 0 to 1
}

// parseRejectLimit reads a number of rows, or a share of them in percent.
func parseRejectLimit(text string) (limit rejectLimit, err error) {
	limit.text = text
	if text == "" {
		return limit, nil
	}
	if percent, isShare := strings.CutSuffix(text, "%"); isShare {
		limit.share, err = strconv.ParseFloat(strings.TrimSpace(percent), 64)
		limit.share /= 100
		if err == nil && limit.share > 0 && limit.share <= 1 {
			return limit, nil
		}
	} else if limit.count, err = strconv.Atoi(text); err == nil && limit.count >= 0 {
		return limit, nil
	}
	return limit, fmt.Errorf("--max-rejects %s is neither a number of rows, such as 0 or 100, nor a share of them, such as 1%%", text)
}

// exceeded tells whether too many of so many rows were rejected, at the end of the file or before it.
func (l rejectLimit) exceeded(rejected, rows int, end bool) bool {
	switch {
	case l.text == "":
		return false
	case l.share > 0:
		return (end || rows >= settledRows) && float64(rejected) > l.share*float64(rows)
	}
	return rejected > l.count
}

// errTooManyRejects stops an import.
var errTooManyRejects = errors.New("too many rows cannot be imported")
