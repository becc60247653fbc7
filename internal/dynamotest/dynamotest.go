// Package dynamotest gives tests a real engine to talk to: Dynoxide, which the program runs by
// default, and Amazon's own DynamoDB Local, which keeps us honest about the first. Each is started
// when a test of the process first asks for it, with data of its own, and is gone when the test
// process ends, in whatever way. It is test support, and no shipped code imports it.
//
//	func TestMain(m *testing.M) { dynamotest.Main(m) }
//
//	func TestStore(t *testing.T) {
//		dynamotest.Each(t, func(t *testing.T, endpoint string) { … })
//	}
package dynamotest

import (
	"crypto/rand"
	"os"
	"regexp"
	"testing"

	"github.com/talkback/talkback/internal/provisiontest"
)

// Main runs the tests, stops the engines that they used, and exits. Without it the engines are
// killed when the process ends.
func Main(m *testing.M) {
	os.Exit(Run(m))
}

// Run is Main for a TestMain that has more to do: it returns the exit status.
func Run(m *testing.M) int {
	defer dynoxide.stop()
	defer dynamoDBLocal.stop()
	return m.Run()
}

// Each runs the body against every engine, as subtests named after them. An engine that is not
// installed leaves out its subtest only.
func Each(t *testing.T, body func(t *testing.T, endpoint string)) {
	t.Helper()
	t.Run("Dynoxide", func(t *testing.T) { body(t, Dynoxide(t)) })
	t.Run("DynamoDBLocal", func(t *testing.T) { body(t, DynamoDBLocal(t)) })
}

// EachIf is Each if both is true, and otherwise runs the body with Dynoxide only. It is for tests
// that take long with DynamoDB Local, and rely on nothing that shorter tests do not compare.
func EachIf(t *testing.T, both bool, body func(t *testing.T, endpoint string)) {
	t.Helper()
	if both {
		Each(t, body)
		return
	}
	t.Run("Dynoxide", func(t *testing.T) { body(t, Dynoxide(t)) })
}

// Dynoxide returns the endpoint of this test process's Dynoxide. Where it is not installed, the
// test is skipped, or fails when the environment variable CI is set.
func Dynoxide(tb testing.TB) string {
	tb.Helper()
	return dynoxide.endpoint(tb)
}

// DynamoDBLocal returns the endpoint of this test process's DynamoDB Local. All credentials and
// regions see the same tables there. Where it is not installed, the test is skipped, or fails when
// the environment variable CI is set.
func DynamoDBLocal(tb testing.TB) string {
	tb.Helper()
	return dynamoDBLocal.endpoint(tb)
}

// DynoxideBinary returns the path of Dynoxide's program, as package provisiontest does.
func DynoxideBinary(tb testing.TB) string {
	tb.Helper()
	return provisiontest.DynoxideBinary(tb)
}

// notInNames matches characters that a table's name may not contain.
var notInNames = regexp.MustCompile(`[^a-zA-Z0-9_.-]+`)

// TableName returns a name that no other test uses, and that holds the name of the test.
func TableName(tb testing.TB) string {
	const longest = 255 - 1 - 26 // what DynamoDB allows, less the part that makes it unique
	name := notInNames.ReplaceAllString(tb.Name(), "_")
	return name[:min(len(name), longest)] + "." + rand.Text()
}
