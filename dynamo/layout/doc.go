// Package layout defines the contents of the table: its keys and indexes, the item of a comment,
// and how texts are compressed. It encodes and decodes items, and calls no service. It also
// computes what DynamoDB charges for reads and writes, and bounds the cost of a page or a count.
//
// Package counts defines the items of statistics, and package leases those of the stream's
// consumers.
package layout
