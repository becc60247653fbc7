package telemetry

import "sync"

// failures logs the failures of an exporter once for each series of them. OpenTelemetry would hand
// them to a handler that all servers of a process share.
type failures struct {
	warn func(error) // writes to the log of this server

	mu     sync.Mutex
	failed bool
}

// note notes how sending ended.
func (f *failures) note(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err != nil && !f.failed {
		f.warn(err)
	}
	f.failed = err != nil
}
