package dynamo

import "time"

// ByClock gives a store another clock.
func ByClock(s *Store, now func() time.Time) *Store {
	s.now = now
	return s
}
