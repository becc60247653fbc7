// Package overload measures what becomes of requests when more come than a server can answer: how
// many are answered in time and how quickly, and how quickly the others are refused. The limit that
// follows the load stands beside a fixed one and none.
//
//	make overload                 # writes docs/overload.csv, -recovery.csv, -crowds.csv and .svg; six minutes
//	make overload OUT=/tmp/mine   # writes elsewhere
//
// generator_linux_test.go sends requests at random times, whatever becomes of those before: an open
// loop, as many clients that do not know each other are. A generator that waits for answers would
// slow down with the server, and not see it. How late each request was written is measured, too. Crowds
// of clients that ask again at once when they are refused are a closed loop beside it.
// answer_test.go reads answers. tally_test.go sums up what came of all.
//
// measure_linux_test.go runs `talkback serve`, all on one machine. around_test.go and table_test.go
// have what stands around it: half of the processors for the servers and half for all else, a table
// that answers from memory, and a server that refuses everything. What that one takes meanwhile, the
// generator and the machine take, not Talkback. report_test.go and tables_test.go write down what
// came of it.
//
// It has tests only. The generator runs on Linux.
package overload
