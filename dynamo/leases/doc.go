// Package leases stores in the table the state that processes reading its stream share: the leases
// of shards with their checkpoints, heartbeats, dead letters, and whether all comments were
// counted. It implements the interfaces of package stream.
package leases
