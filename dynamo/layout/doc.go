// Package layout defines what the table holds: its keys and indexes, the item of a comment, and how
// texts are compressed. It encodes and decodes items, and calls no service. It also says what
// DynamoDB charges to read them, and bounds what one page or one count may cost.
//
// Package counts defines the items of statistics, package leases those of the stream's consumers.
package layout
