// Package safety runs the whole server over a real engine that is in trouble, and checks two
// things, each by itself. Safety: whatever happens, no answer is wrong. Liveness: once the trouble
// is over, all works again within seconds. It has only tests.
package safety
