//go:build unix

package disk

import "syscall"

// Free returns how many bytes a process without privileges can still write to the disk of a folder.
func Free(folder string) (uint64, error) {
	var disk syscall.Statfs_t
	if err := syscall.Statfs(folder, &disk); err != nil {
		return 0, err
	}
	return uint64(disk.Bavail) * uint64(disk.Bsize), nil
}
