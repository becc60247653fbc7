// Package conformance tests what every store of page numbers promises. It has a model that is too
// simple to be wrong, and a test suite that compares a store with it. Only tests import it.
//
//	func TestConformance(t *testing.T) {
//		conformance.Run(t, func(t *testing.T) conformance.Place { … })
//	}
package conformance

import (
	"slices"
	"testing"

	"github.com/talkback/talkback/internal/commenttest"
)

// test is a test of the suite. Tests without builds only apply entries and look them up.
type test struct {
	name   string
	run    func(t *testing.T, h *history, p Place)
	builds bool
}

var tests = []test{
	{name: "History", run: testHistory},
	{name: "Reopened", run: testReopened, builds: true},
	{name: "Gone", run: testGone, builds: true},
	{name: "Concurrent", run: testConcurrent},
	{name: "OneState", run: testOneState},
	{name: "Build", run: testBuild, builds: true},
	{name: "BuildBesideAll", run: testBuildBesideAll, builds: true},
	{name: "Replaced", run: testReplaced, builds: true},
	{name: "Renew", run: testRenew, builds: true},
	{name: "LaterBuild", run: testLaterBuild, builds: true},
	{name: "UnfinishedBuild", run: testUnfinishedBuild, builds: true},
	{name: "ManyLanguages", run: testManyLanguages},
	{name: "Pages", run: testPages},
	{name: "Products", run: testProducts, builds: true},
}

// Run tests a store. Each call of place returns a new, empty place.
func Run(t *testing.T, place func(t *testing.T) Place) { runAll(t, tests, place) }

// RunCounted tests an index that counting comments updates. It does not call Build and Covers.
func RunCounted(t *testing.T, place func(t *testing.T) Place) {
	builds := func(test test) bool { return test.builds }
	runAll(t, slices.DeleteFunc(slices.Clone(tests), builds), place)
}

func runAll(t *testing.T, tests []test, place func(t *testing.T) Place) {
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			test.run(t, &history{r: commenttest.Rand(t)}, place(t))
		})
	}
}
