package clients

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/internal/provisiontest"
)

// An application in Kotlin pages by cursors, sends hashes and then ids of its manifest instead of texts,
// and subscribes over HTTP and by a socket.
func TestApolloKotlin(t *testing.T) {
	jars := kotlinJars(t)
	built := t.TempDir()
	java := func(class string, arguments ...string) []string {
		// Each runs for seconds, too short for Java's second compiler to pay.
		return append([]string{"java", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-cp", strings.Join(append(jars, built), ":"), class}, arguments...)
	}
	run(t, "kotlin", java("Generate.java", "../../../schema.graphqls", built))
	libraries := slices.DeleteFunc(slices.Clone(jars), func(jar string) bool { return strings.Contains(jar, "-compiler-") })
	run(t, "kotlin", java("org.jetbrains.kotlin.cli.jvm.K2JVMCompiler", "-no-stdlib", "-no-reflect", "-nowarn", "-jvm-target", "17",
		"-cp", strings.Join(libraries, ":"), "-d", built, filepath.Join(built, "sources"), "Main.kt"))
	flags := followedTable(t)
	one := serving(t, append(flags, "--max-subscriptions", "10")...)
	trusting := serving(t, append(flags, "--no-count", "--trusted-only", "--trusted-documents", filepath.Join(built, "manifest.json"))...)
	run(t, "kotlin", java("MainKt"), "TALKBACK_PRODUCT=kettle",
		"TALKBACK_URL=http://"+one.host+"/graphql", "TALKBACK_TRUSTED_URL=http://"+trusting.host+"/graphql")
}

// kotlinJars returns the jars of Apollo Kotlin, its compiler and that of Kotlin.
func kotlinJars(t *testing.T) []string {
	t.Helper()
	root := must.Get(provisiontest.ModuleRoot())(t)
	jars := must.Get(filepath.Glob(filepath.Join(root, ".cache", "apollo-kotlin", "*.jar")))(t)
	if sums := read(t, "../provision/apollo-kotlin.sha256"); len(jars) != strings.Count(sums, "\n") {
		provisiontest.LeaveOut(t, fmt.Errorf("the test of Apollo Kotlin: .cache/apollo-kotlin is not there, or of other versions; %w", provisiontest.ErrNotInstalled))
	}
	if out, err := exec.Command("java", "--list-modules").Output(); err != nil || !strings.Contains(string(out), "jdk.compiler@") {
		provisiontest.LeaveOut(t, fmt.Errorf("the test of Apollo Kotlin: there is no JDK; %w", provisiontest.ErrNotInstalled))
	}
	return jars
}
