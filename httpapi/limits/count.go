package limits

import "math"

// most is where counts stop growing. A count above it is refused whatever the limit is.
const most = math.MaxInt32

// capped returns a count, or most if it is larger.
func capped(n int) int { return min(n, most) }

// ceiling rounds an estimate up, to at most most.
func ceiling(x float64) int { return int(math.Ceil(min(x, most))) }
