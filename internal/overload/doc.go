// Package overload measures what becomes of requests when more come than a server can answer: how
// many are answered in time and how quickly, and how quickly the others are refused. The limit that
// follows the load stands beside a fixed one and none.
//
//	make overload                 # writes docs/overload.csv, -recovery.csv and .svg; four minutes
//	make overload OUT=/tmp/mine   # writes elsewhere
//
// arrivals_test.go sends requests at random times, whatever becomes of those before: an open loop,
// as many clients that do not know each other are. A generator that waits for answers would slow
// down with the server, and not see it. measure_test.go runs `talkback serve`, all on one machine.
// around_test.go has what stands around it: half of the processors for the servers and half for all
// else, a table that answers from memory, and a server that refuses everything. What that one takes
// meanwhile, the generator and the machine take, not Talkback. report_test.go writes down what came
// of it.
//
// It has tests only.
package overload
