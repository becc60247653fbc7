// Package conformance holds what every store of page numbers promises: a model that is too simple
// to be wrong, and one suite of tests that compares a store with it. Only tests import it.
//
//	func TestConformance(t *testing.T) {
//		conformance.Run(t, func(t *testing.T) conformance.Place { … })
//	}
package conformance

import (
	"testing"

	"github.com/talkback/talkback/internal/commenttest"
)

// Run tests a store. Each call of place returns an empty place of its own.
func Run(t *testing.T, place func(t *testing.T) Place) {
	for _, test := range []struct {
		name string
		run  func(t *testing.T, h *history, p Place)
	}{
		{"History", testHistory},
		{"Reopened", testReopened},
		{"Gone", testGone},
		{"Concurrent", testConcurrent},
		{"OneState", testOneState},
		{"Build", testBuild},
		{"BuildBesideAll", testBuildBesideAll},
		{"LaterBuild", testLaterBuild},
		{"UnfinishedBuild", testUnfinishedBuild},
		{"ManyLanguages", testManyLanguages},
		{"Pages", testPages},
	} {
		t.Run(test.name, func(t *testing.T) {
			test.run(t, &history{r: commenttest.Rand(t)}, place(t))
		})
	}
}
