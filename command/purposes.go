package command

import (
	"github.com/talkback/talkback/dynamo/call"
	"github.com/talkback/talkback/dynamo/counts"
	"github.com/talkback/talkback/dynamo/leases"
)

// newCounter makes what counts the comments of a session's table.
func newCounter(session *Session) *counts.Counter {
	return counts.NewCounter(call.For(session.Client, call.ForCounting), session.Table)
}

// newLeases makes the leases of the stream of a session's table.
func newLeases(session *Session) *leases.Leases {
	return leases.NewLeases(call.For(session.Client, call.ForLeases), session.Table)
}
