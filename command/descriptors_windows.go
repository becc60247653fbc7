package command

import (
	"math"
	_ "time/tzdata" // Windows has no time zones that import --time-zone could name
)

// descriptors returns how many handles this process may have: Windows limits them by memory only.
func descriptors() uint64 { return math.MaxUint64 }
