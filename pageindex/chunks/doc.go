// Package chunks is the index of ranks that lies in files, wherever these are kept. All comments
// stand in one order, by product and position, and are cut into chunks that never change; a root
// lists the chunks with their counts. A jump therefore reads the head of one chunk and one block of
// 512 records, under any filter. Changes that are not in the chunks yet stand in an overlay, and a
// merge brings them in.
//
// find.go answers lookups, of line.go's list of pieces and reads.go's caches. merge.go and cut.go
// make new chunks of old ones and changes, sort.go orders more changes than memory holds.
package chunks

import "context"

// Reader reads files that never change.
type Reader interface {
	// Read returns some bytes of a file, from offset on; to its end if length is negative.
	Read(ctx context.Context, name string, offset, length int) ([]byte, error)
}

// Writer writes files that never change. It is called from several goroutines.
type Writer interface {
	// Write writes a file of a new name. It survives a crash of the machine from then on.
	Write(ctx context.Context, name string, data []byte) error
}
