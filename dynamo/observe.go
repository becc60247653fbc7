package dynamo

import "github.com/talkback/talkback/dynamo/planner"

// looked tells the observer of a lookup in the page cache, if there are both.
func (s *Store) looked(hit bool) {
	if s.options.Observer != nil && s.cache != nil {
		s.options.Observer.Looked("pages", hit)
	}
}

// pageRead tells the observer of a page that was read.
func (s *Store) pageRead(known planner.Known, e execution) {
	if s.options.Observer == nil {
		return
	}
	warm := known.Stats != nil
	s.options.Observer.Looked("statistics", warm)
	estimated, consumed := 0.0, 0.0
	if len(e.page) > 0 && e.page[0].plan.Estimated() {
		estimated = e.page[0].plan.Chosen.Units
		for _, r := range e.page {
			consumed += r.units()
		}
	}
	s.options.Observer.PageRead(warm, estimated, consumed, e.waves())
}
