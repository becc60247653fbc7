package command

import (
	"math"
	"syscall"
)

// connectionLimit returns how many client connections are allowed: as many as wanted, but at most
// two thirds of the process's file descriptors. The rest is for connections to the table, of which
// a request may open several, and for files.
func connectionLimit(wanted uint32) int {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return int(wanted)
	}
	return min(int(wanted), max(1, int(min(limit.Cur, math.MaxInt32))*2/3))
}
