package command

import (
	"math"
	"syscall"
)

// connectionLimit is how many connections of clients fit into the file descriptors there are: two thirds of them. The rest is for
// connections to the table, which each request may open several of, for the engine and for files.
func connectionLimit(wanted uint32) int {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return int(wanted)
	}
	return min(int(wanted), max(1, int(min(limit.Cur, math.MaxInt32))*2/3))
}
