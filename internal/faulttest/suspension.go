package faulttest

import (
	"time"
	"unsafe"
)

// Suspended returns a time whose wall clock went on for a duration, in seconds, while its monotonic
// clock stood still, as on a machine that was suspended. It must have both: see package time.
func Suspended(at time.Time, d time.Duration) time.Time {
	*(*uint64)(unsafe.Pointer(&at)) += uint64(d/time.Second) << 30
	return at
}
