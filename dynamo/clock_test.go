package dynamo

import "time"

// ByClock has a store tell the time by another clock.
func ByClock(s *Store, now func() time.Time) *Store {
	s.now = now
	return s
}
