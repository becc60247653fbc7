// Package dynamotest gives tests real engines: Dynoxide, which the program runs by default, and
// Amazon's own DynamoDB Local, to check that Dynoxide behaves the same. Each engine starts when a
// test of the process first asks for it, with its own data. It ends with the test process, however
// that ends. This is test support, and no shipped code imports it.
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

// Main runs the tests, stops the engines that they used, and exits. Without Main, the engines are
// killed when the process ends.
func Main(m *testing.M) {
	os.Exit(Run(m))
}

// Run is Main for a TestMain that has more to do. It returns the exit status.
func Run(m *testing.M) int {
	defer dynoxide.stop()
	defer dynamoDBLocal.stop()
	return m.Run()
}

// Each runs the body against every engine, as subtests named after them. If an engine is not
// installed, only its subtest is skipped.
func Each(t *testing.T, body func(t *testing.T, endpoint string)) {
	t.Helper()
	t.Run("Dynoxide", func(t *testing.T) { body(t, Dynoxide(t)) })
	t.Run("DynamoDBLocal", func(t *testing.T) { body(t, DynamoDBLocal(t)) })
}

// EachIf is Each if both is true, and otherwise runs the body with Dynoxide only. It is for tests
// that take long with DynamoDB Local, and whose behaviour shorter tests compare on both engines.
func EachIf(t *testing.T, both bool, body func(t *testing.T, endpoint string)) {
	t.Helper()
	if both {
		Each(t, body)
		return
	}
	t.Run("Dynoxide", func(t *testing.T) { body(t, Dynoxide(t)) })
}

// Dynoxide returns the endpoint of this test process's Dynoxide. If it is not installed, the test
// is skipped, or fails if the environment variable CI is set.
func Dynoxide(tb testing.TB) string {
	tb.Helper()
	return dynoxide.endpoint(tb)
}

// DynamoDBLocal returns the endpoint of this test process's DynamoDB Local. There, all credentials
// and regions see the same tables. If it is not installed, the test is skipped, or fails if the
// environment variable CI is set.
func DynamoDBLocal(tb testing.TB) string {
	tb.Helper()
	return dynamoDBLocal.endpoint(tb)
}

// DynoxideBinary returns the path of Dynoxide's program, like package provisiontest.
func DynoxideBinary(tb testing.TB) string {
	tb.Helper()
	return provisiontest.DynoxideBinary(tb)
}

// notInNames matches characters that are not allowed in table names.
var notInNames = regexp.MustCompile(`[^a-zA-Z0-9_.-]+`)

// TableName returns a name that no other test uses, and that contains the name of the test.
func TableName(tb testing.TB) string {
	const longest = 255 - 1 - 26 // DynamoDB's limit, less the part that makes the name unique
	name := notInNames.ReplaceAllString(tb.Name(), "_")
	return name[:min(len(name), longest)] + "." + rand.Text()
}
