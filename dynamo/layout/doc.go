// Package layout is what the table holds: its keys and indexes, the item of a comment, how texts are compressed, and how
// attributes are read. It makes and reads items, and makes no call.
//
// The items of statistics are described in package counts, those of the stream's readers in package leases.
package layout
