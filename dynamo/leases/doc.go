// Package leases keeps in the table what the processes that read its stream share: which process
// reads which shard, how far it came, heartbeats, dead letters, and whether all comments were
// counted. It implements the interfaces of package stream.
package leases
