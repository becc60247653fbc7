package commenttest

import "runtime"

// Heap returns how many bytes of the heap are in use, after a collection.
func Heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
