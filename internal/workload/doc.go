// Package workload uses a server of Talkback over HTTP, as many clients at a time, and checks every
// answer against its own records. It keeps a history of each comment that it writes: which states
// were acknowledged, refused, or uncertain because an answer was lost. A page, a count or a
// leaderboard is right if it fits the states that were possible while it was read. Afterwards,
// Audit recounts everything exactly. Only tests import it.
//
//	load := workload.New(url, seed)
//	load.Run(ctx)         // until the context ends, whatever happens to the table meanwhile
//	err := load.Audit(ctx) // every page, count and number, once the trouble is over
package workload
