package dynamo

import (
	"github.com/talkback/talkback/dynamo/call"
	"github.com/talkback/talkback/dynamo/planner"
)

// Observe sets the observer. Call it before the first query.
func (s *Store) Observe(o Observer) { s.observer = o }

// looked tells the observer of a look into the page cache, if there are both.
func (s *Store) looked(hit bool) {
	if s.observer != nil && s.pages != nil {
		s.observer.Looked("pages", hit)
	}
}

// pageRead tells the observer of a page that was read.
func (s *Store) pageRead(known planner.Known, e execution) {
	if s.observer == nil {
		return
	}
	warm := known.Stats != nil
	s.observer.Looked("statistics", warm)
	estimated, consumed := 0.0, 0.0
	if len(e.page) > 0 && e.page[0].plan.Estimated() {
		estimated = e.page[0].plan.Chosen.Units
		for _, r := range e.page {
			consumed += r.units()
		}
	}
	s.observer.PageRead(warm, estimated, consumed, e.waves())
}

var _ call.Purposeful = (*listed)(nil)

// Purpose implements call.Purposeful.
func (l *listed) Purpose() string { return string(l.run.plan.Purpose) }
