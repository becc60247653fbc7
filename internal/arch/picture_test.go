package arch

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the picture of the packages as they are now")

const (
	picturePath  = "../../docs/design/packages.md"
	pictureStart = "```mermaid\nflowchart TD\n"
	pictureEnd   = "```\n"
)

// The picture of who imports whom is drawn from the code: go test ./internal/arch -run Picture
// -update
func TestPictureOfPackages(t *testing.T) {
	raw, err := os.ReadFile(picturePath)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, found := strings.Cut(string(raw), pictureStart)
	was, after, closed := strings.Cut(rest, pictureEnd)
	if !found || !closed {
		t.Fatalf("%s has no picture", picturePath)
	}
	is := pictureOf(shippedImports(t))
	if *update {
		if err := os.WriteFile(picturePath, []byte(before+pictureStart+is+pictureEnd+after), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(was, is); diff != "" {
		t.Errorf("the picture in docs/design/packages.md is old; go test ./internal/arch -run Picture -update draws it anew (-was +is):\n%s", diff)
	}
}

// shippedImports are the imports of ours among the packages of the two programs.
func shippedImports(t *testing.T) map[string][]string {
	all := map[string][]string{}
	for _, p := range packages(t) {
		var ours []string
		for _, imported := range p.Imports {
			if inside, ok := strings.CutPrefix(imported, module+"/"); ok {
				ours = append(ours, inside)
			}
		}
		all[p.local()] = ours
	}
	shipped := map[string][]string{}
	var follow func(name string)
	follow = func(name string) {
		if _, seen := shipped[name]; seen {
			return
		}
		shipped[name] = all[name]
		for _, imported := range all[name] {
			follow(imported)
		}
	}
	follow("command")
	follow("cmd/talkback-lambda")
	return shipped
}

// pictureOf draws each import that does not follow from others: an arrow to what is reached by
// another way is left out.
func pictureOf(imports map[string][]string) string {
	var out strings.Builder
	names := slices.Sorted(maps.Keys(imports))
	var nodes []string
	for _, name := range names {
		if node := nodeOf(name); node != name {
			nodes = append(nodes, fmt.Sprintf("%s[%s]", node, name))
		}
	}
	for line := range slices.Chunk(nodes, 7) {
		fmt.Fprintf(&out, "  %s\n", strings.Join(line, "; "))
	}
	for _, name := range names {
		var arrows []string
		for _, imported := range slices.Sorted(slices.Values(imports[name])) {
			if !slices.ContainsFunc(imports[name], func(other string) bool { return other != imported && reaches(imports, other, imported) }) {
				arrows = append(arrows, nodeOf(imported))
			}
		}
		if len(arrows) > 0 {
			fmt.Fprintf(&out, "  %s --> %s\n", nodeOf(name), strings.Join(arrows, " & "))
		}
	}
	return out.String()
}

// reaches tells whether one package imports another, by way of others too.
func reaches(imports map[string][]string, from, to string) bool {
	return from == to || slices.ContainsFunc(imports[from], func(next string) bool { return reaches(imports, next, to) })
}

func nodeOf(name string) string {
	return strings.NewReplacer("/", "_", "-", "_").Replace(name)
}
