package command

import (
	"github.com/talkback/talkback/dynamo/call"
	"github.com/talkback/talkback/dynamo/leases"
)

// newLeases makes the leases of the stream of a session's table.
func newLeases(session *Session) *leases.Leases {
	return leases.NewLeases(call.For(session.Client, call.ForLeases), session.Table)
}
