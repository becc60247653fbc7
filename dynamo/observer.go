package dynamo

// Observer is told of pages. Its methods are called by many goroutines, so they must be quick.
type Observer interface {
	// PageRead is called when a page was read from the table. warm says that counts of its product
	// were known. estimated and consumed are the read units of its comments; 0 if there was only one
	// way to read them, which is not estimated. waves includes what lies beyond the page.
	PageRead(warm bool, estimated, consumed float64, waves int)
	// Looked is called when a cache was asked: pages or statistics.
	Looked(cache string, hit bool)
}
