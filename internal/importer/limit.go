package importer

import (
	"fmt"
	"strconv"
	"strings"
)

// minRowsForShare is the number of rows from which a share of them is representative. Before the
// end of the file, a share is not checked for fewer rows.
const minRowsForShare = 1000

// Limit is how many rows may be rejected before an import stops. The zero Limit allows any number.
type Limit struct {
	text  string  // as it was given; empty for no limit
	count int     // rows, unless there is a share
	share float64 // of all rows, 0 to 1
}

// ParseLimit parses a number of rows, such as "100", or a share, such as "1%". Empty is no limit.
func ParseLimit(text string) (limit Limit, err error) {
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

// exceeded reports whether too many of the rows so far were rejected. end means that these are all.
func (l Limit) exceeded(rejected, rows int, end bool) bool {
	switch {
	case l.text == "":
		return false
	case l.share > 0:
		return (end || rows >= minRowsForShare) && float64(rejected) > l.share*float64(rows)
	}
	return rejected > l.count
}
