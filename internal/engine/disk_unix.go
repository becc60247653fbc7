//go:build unix

package engine

import "syscall"

// FreeSpace returns how many bytes a process without privileges can still write to the disk of a
// folder.
func FreeSpace(folder string) (uint64, error) {
	var disk syscall.Statfs_t
	if err := syscall.Statfs(folder, &disk); err != nil {
		return 0, err
	}
	return uint64(disk.Bavail) * uint64(disk.Bsize), nil
}
