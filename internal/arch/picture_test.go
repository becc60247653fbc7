package arch

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/talkback/talkback/internal/commenttest/goldentest"
	"github.com/talkback/talkback/internal/commenttest/must"
)

const (
	picturePath  = "../../docs/design/packages.md"
	pictureStart = "```mermaid\nflowchart TD\n"
	pictureEnd   = "```\n"
)

// The picture of which folder imports which is drawn from the code: go test ./internal/arch -run
// Picture -update
func TestPictureOfPackages(t *testing.T) {
	raw := must.Get(os.ReadFile(picturePath))(t)
	before, rest, found := strings.Cut(string(raw), pictureStart)
	_, after, closed := strings.Cut(rest, pictureEnd)
	if !found || !closed {
		t.Fatalf("%s has no picture", picturePath)
	}
	is := pictureOf(foldersOf(shippedImports(t)))
	goldentest.Compare(t, picturePath, before+pictureStart+is+pictureEnd+after)
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

// foldersOf returns the imports among the top-level folders. A package below internal stands by
// itself, unless it imports none of ours but the nouns: then it is left out, as a leaf.
func foldersOf(imports map[string][]string) map[string][]string {
	folder := func(name string) string {
		top, _, _ := strings.Cut(name, "/")
		if top != "internal" {
			return top
		}
		for _, imported := range imports[name] {
			if imported != "comment" && !strings.HasPrefix(imported, "internal/") {
				return name
			}
		}
		return ""
	}
	folders := map[string][]string{}
	for name := range imports {
		from := folder(name)
		if from == "" {
			continue
		}
		for _, imported := range imports[name] {
			if to := folder(imported); to != "" && to != from && !slices.Contains(folders[from], to) {
				folders[from] = append(folders[from], to)
			}
		}
	}
	return folders
}

// pictureOf draws each import that does not follow from others: it leaves out an arrow to a folder
// that another path reaches. Two folders that reach each other keep their arrows.
func pictureOf(imports map[string][]string) string {
	var out strings.Builder
	for _, name := range slices.Sorted(maps.Keys(imports)) {
		var arrows []string
		for _, imported := range slices.Sorted(slices.Values(imports[name])) {
			if !slices.ContainsFunc(imports[name], func(other string) bool {
				return reaches(imports, other, imported, nil) && !reaches(imports, imported, other, nil) && !reaches(imports, other, name, nil)
			}) {
				arrows = append(arrows, imported)
			}
		}
		if len(arrows) > 0 {
			fmt.Fprintf(&out, "  %s --> %s\n", name, strings.Join(arrows, " & "))
		}
	}
	return out.String()
}

// reaches reports whether one folder imports another, also through folders that were not visited
// yet.
func reaches(imports map[string][]string, from, to string, passed []string) bool {
	return from == to || slices.ContainsFunc(imports[from], func(next string) bool {
		return !slices.Contains(passed, next) && reaches(imports, next, to, append(passed, from))
	})
}
