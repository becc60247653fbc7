package newest

import (
	"math"
	"time"

	"github.com/talkback/talkback/comment"
)

// seconds is the bound of a cell: the number of the first second since 1970 that is newer than all
// of its comments. From the year 2106 on it bounds nothing.
type seconds uint32

const (
	// unknown is stored for a cell that has comments and no bound of its own.
	unknown seconds = 0
	endless seconds = math.MaxUint32
)

func secondsOf(p comment.Position) seconds {
	return seconds(min(p.Time().Unix()+1, int64(endless)))
}

// last returns the last position that the bound allows.
func (s seconds) last() comment.Position {
	if s == endless {
		return comment.MaxPosition
	}
	return comment.FirstAt(time.Unix(int64(s), 0)).Previous()
}
