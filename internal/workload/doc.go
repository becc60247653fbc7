// Package workload uses a server of Talkback over HTTP, as many clients do at a time, and checks
// every answer against what it knows. It keeps a history of each comment that it writes: which
// states were acknowledged, which were refused, and which are uncertain, since an answer was lost.
// A page, a count or a leaderboard is right if it fits to what may have been there while it was
// read. Afterwards, Audit recounts everything exactly. Only tests import it.
//
//	load := workload.New(url, seed)
//	load.Run(ctx)         // until the context ends, whatever happens to the table meanwhile
//	err := load.Audit(ctx) // every page, count and number, once the trouble is over
package workload
