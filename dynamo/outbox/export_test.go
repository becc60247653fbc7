package outbox

import "time"

// SetClock makes an outbox take its time from a function.
func SetClock(o *Outbox, now func() time.Time) { o.now = now }
