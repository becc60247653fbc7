// Package bench measures what a page costs beyond what any server in Go would have to pay for it.
// The whole server, as the command serve wires it, stands beside a bare handler that makes the same
// calls of the SDK and writes the same JSON. Both get their table's answers from memory, so that no
// engine takes part of the time. The server knows the statistics of its product, as any server does
// after three pages within seconds, and chooses its reads by them. The bare handler gets the same
// reads as a list. Of a hundred comments 55 have 5 stars, 20 have 4, 10 have 3, 6 have 2 and 9 have
// 1.
//
//	go test ./internal/bench -run '^$' -bench . -benchtime 2s
//
// BenchmarkFilter has pages of four ratings beside one of all, in one process. They take turns in
// small batches, which is also fair on a busy machine. It reports how many times as much they take,
// as x-cpu, x-time and x-allocs, each a ratio of medians. The processor time of either stands
// beside them, the garbage collector's included.
//
// BenchmarkRequests is closest to a busy server. The programs are processes of their own, which 16
// connections ask, and another process replays the table over HTTP, each answer after a
// millisecond. So the way in which a program makes its calls counts, and its clients do not. whole
// is the command serve. bare is the bare handler; published reads in the usual way, as many whole
// items as the page has from each partition that the filter names. apollo is a server of the usual
// kind in Node.js: see apollo/server.mjs. apollo and published-plain have a table whose texts are
// not compressed. Each page is asked for in two ways:
//
//   - different: no two requests in flight are for the same product
//   - equal: all are for the same page, so that the server shares reads in flight
//
// For each program NAME there are NAME-cpu-µs and NAME-allocs for a request, and x-NAME: how many
// times as much the whole server takes. calls are the calls of the whole server for a request.
// in-flight has the bytes that a request occupies while it waits for the table, its connection
// included.
//
//	make bench                                              # fetches Apollo Server and runs all there is
//	go test ./internal/bench -run '^$' -bench Requests
//
// floor is a program that makes one call with net/http and understands nothing; it takes part in
// the newest 20. BENCH_BEFORE names an older build of this test, whose server takes part as before:
// so two versions are compared under the same load of the machine.
//
//	go test -c -o /tmp/before.test ./internal/bench         # before a change
//	BENCH_BEFORE=/tmp/before.test go test ./internal/bench -run '^$' -bench Requests/newest-20/different
//
// BenchmarkProfile has each program write profiles under the same load, to a folder:
// PAGE.NAME.cpu.pprof, and with BENCH_MEMPROFILERATE the allocations, PAGE.NAME.allocs.pprof, whose
// base is PAGE.NAME.allocs-before.pprof.
//
//	BENCH_PROFILES=/tmp/profiles go test ./internal/bench -run '^$' -bench Profile/newest-20
//
// TestTail tells how long the slowest pages take over a table whose reads are sometimes slow, with
// and without asking these a second time: go test ./internal/bench -run Tail -v.
//
// It has tests only.
package bench
