package command

import (
	"math"
	_ "time/tzdata" // Windows has no time zones that import --time-zone could name
)

// descriptors returns the process's limit of handles: on Windows, only memory limits them.
func descriptors() uint64 { return math.MaxUint64 }
