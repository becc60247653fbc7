// Package overload measures requests when more come than a server can answer. How many are answered
// in time and how quickly, and how quickly are the others refused? It compares the adaptive limit
// with a fixed one and with none.
//
//	make overload                 # writes docs/overload.csv, -recovery.csv, -crowds.csv and .svg; six minutes
//	make overload OUT=/tmp/mine   # writes elsewhere
//
// generator_linux_test.go sends requests at random times, whatever the earlier outcomes: an open
// loop, like many clients that do not know each other. A generator that waits for answers would
// slow down with the server, and hide that. The test also measures how late each request was
// written. Crowds of clients that ask again at once when they are refused are a closed loop beside
// it. answer_test.go reads answers. tally_test.go sums up the outcomes.
//
// measure_linux_test.go runs `talkback serve`, all on one machine. around_test.go divides the
// processors, half for the servers and half for everything else, and runs a server that refuses
// everything. The time of that one is taken by the generator and the machine, not by Talkback.
// table_test.go is a table that answers from memory. report_test.go and tables_test.go write the
// results.
//
// It has tests only. The generator runs on Linux.
package overload
