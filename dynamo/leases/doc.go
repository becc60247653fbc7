// Package leases keeps in the table what the processes that read its stream have to know of each other: who reads which
// shard and how far it came, heartbeats, records that could not be handled, and whether all comments were counted. It
// implements what package stream asks for.
package leases
