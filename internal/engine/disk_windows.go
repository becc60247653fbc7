package engine

import "golang.org/x/sys/windows"

// FreeSpace returns how many bytes this user can still write to the disk of a folder.
func FreeSpace(folder string) (uint64, error) {
	name, err := windows.UTF16PtrFromString(folder)
	if err != nil {
		return 0, err
	}
	var free uint64
	err = windows.GetDiskFreeSpaceEx(name, &free, nil, nil)
	return free, err
}
