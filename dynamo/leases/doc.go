// Package leases stores in the table the state that readers of its stream share: leases of shards
// with checkpoints, heartbeats, dead letters, and whether all comments were counted. It implements
// the interfaces of package stream.
package leases
