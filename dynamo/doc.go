// Package dynamo is the only one that knows the table: its keys and indexes, how an item becomes a comment, how a
// question becomes a plan of reads, how a plan is run, and how comments are counted. store.go is the door.
//
// What is stored: table.go has keys and indexes, item.go the attributes of a comment, text.go those texts that are
// compressed, statistics.go, leaders.go and mark.go what is counted, leaseitem.go who reads the stream. setup.go makes and
// checks the table.
//
// The way of a question, all pure functions until the calls: window.go says which stretch of a list is read, covers.go
// which sets of index partitions hold what is asked for, cost.go what each is expected to cost, plan.go makes the plan,
// input.go turns it into the calls of the SDK. run.go makes the calls, merge puts their answers in order, explain.go tells
// what was done. moves.go adds comments that an edit moved while a page was read. count.go counts a list where statistics
// cannot, price.go is what a question may cost before it is planned.
//
// What plans know (known.go): memory.go has statistics, sizes.go how large comments are, recent.go and earlier.go what
// pages held that were read before. What is not read twice: flight.go has the pages that are being read, pages.go those
// that are kept for a moment; noticing.go and changes.go say which changes end either. hedge.go reads twice on purpose,
// when a read is slow.
//
// Writing: write.go one comment, load.go many, export.go reads them all again; insist.go and persist.go say how long either
// tries.
//
// Counting, as a handler of package stream: counter.go takes records, tally.go decides, lease.go keeps what consumers
// agree on. rebuild*.go count everything anew while all goes on, verify*.go compare without changing anything.
package dynamo
