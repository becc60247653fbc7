package importer

import (
	"time"

	"github.com/talkback/talkback/dynamo"
)

// result is what became of the rows so far.
type result struct {
	dynamo.LoadCounts
	rejected int
	line     int           // the last line that is done
	loaded   time.Duration // how long all rows took; 0 until they are done
}

func (r *result) add(more dynamo.LoadCounts) {
	r.Written += more.Written
	r.Existing += more.Existing
	r.Deleted += more.Deleted
	r.Repeated += more.Repeated
}

// rows returns the number of rows that are done.
func (r *result) rows() int { return r.Written + r.Existing + r.Deleted + r.Repeated + r.rejected }
