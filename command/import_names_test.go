package command_test

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/talkback/talkback/dynamo"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/internal/commenttest"
	"github.com/talkback/talkback/internal/commenttest/check"
	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/internal/dynamotest"
	"github.com/talkback/talkback/internal/importer"
	"github.com/talkback/talkback/internal/provisiontest"
)

const threeReviews = `id,product,rating,title,text,date,status
1,cup,5,Nice,Good.,2015-08-20,published
2,cup,1,Small,Broken.,2015-08-21,published
3,cup,2,Spam,Buy here.,2015-08-22,spam
`

var instant = regexp.MustCompile(`20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ`)

// list returns what --list prints, with one space between cells.
func (i *importing) list() string {
	i.t.Helper()
	status, out, said := i.run(i.t.Context(), "--list")
	if status != 0 {
		i.t.Fatalf("status %d: %s", status, said)
	}
	return regexp.MustCompile(` +(\n|)`).ReplaceAllStringFunc(instant.ReplaceAllString(out, "then"), func(gap string) string {
		return map[bool]string{true: "\n", false: " "}[strings.HasSuffix(gap, "\n")]
	})
}

// A second import corrects a wrong --language and rows that changed in the file, and an import can
// be undone.
func TestImportUpdatesAndUndo(t *testing.T) {
	t.Parallel()
	endpoint := dynamotest.Dynoxide(t)
	i := newImporter(t, endpoint)
	file := write(t, "cups.csv", threeReviews)
	i.want(summary(3, 3, 0, 0, 0), file, "--language", "en")
	checkFiles(t, filepath.Dir(file), "cups.csv") // and none of rejected rows
	mended := write(t, "mended.csv", strings.NewReplacer("Buy here.", "Bon.", "spam", "published", "Broken.", "Cassée.").Replace(threeReviews))
	i.want("3 rows = 0 written + 0 already there + 3 updated + 0 repeated in the file + 0 rejected, in a while\n", mended, "--language", "fr", "--update")
	i.want(summary(3, 0, 3, 0, 0), mended, "--language", "fr", "--update")

	a := newAPIOf(t, endpoint, i.table)
	var texts []string
	for _, e := range a.page(list{product: "cup", order: "NEWEST_FIRST", size: 10}.variables(false, nil)).Edges {
		texts = append(texts, string(e.Node.Language)+" "+e.Node.Text)
	}
	check.Equal(t, []string{"fr Bon.", "fr Cassée.", "fr Good."}, texts)
	check.Equal(t, "IMPORT BEGAN ADDED UPDATED STATE\ncups.csv then 3 0 ended\nmended.csv then 0 3 ended\n", i.list())
	g := newGate(t, endpoint, "Scan", 0)
	i.endpoint = g.URL
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-g.shut; cancel() }()
	want := "talkback: 0 comments are removed, and then it stopped: interrupted. Run it again: it goes on where it stopped\n"
	if status, _, said := i.run(ctx, "--undo", "cups.csv"); status != 1 || !strings.HasSuffix(said, want) {
		t.Errorf("interrupted: status %d, %s", status, said)
	}
	i.endpoint = endpoint
	i.want("3 comments are removed\n", "--undo", "cups.csv")
	var left struct {
		Product struct {
			Stats    struct{ Total int }
			Comments struct{ Nodes []struct{ ID string } }
		}
	}
	a.mustAsk(`{ product(id: "cup") { stats { total } comments { nodes { id } } } }`, nil, &left)
	if left.Product.Stats.Total > 0 || len(left.Product.Comments.Nodes) > 0 {
		t.Errorf("left is %+v", left)
	}
	check.Equal(t, "IMPORT BEGAN ADDED UPDATED STATE\ncups.csv then 3 0 taken back then\nmended.csv then 0 3 ended\n", i.list())
	i.want(summary(3, 3, 0, 0, 0), file, "--language", "en", "--name", "again")
}

// An import that has no row to write is not listed.
func TestImportsOfNothing(t *testing.T) {
	t.Parallel()
	i := newImporter(t, dynamotest.Dynoxide(t))
	for why, text := range map[string]string{"no rows": badReviews(""), "a bad row": badReviews("b"), "too many bad rows": badReviews("bg")} {
		i.in = strings.NewReader(text)
		if status, out, said := i.run(t.Context(), "-", "--max-rejects", "0", "--rejects", filepath.Join(t.TempDir(), "rejects")); status != 1 {
			t.Errorf("%s: status %d, %s%s", why, status, out, said)
		}
	}
	check.Equal(t, "No import has a name in this table.\n", i.list())
}

// An import that was killed may have added more comments than it noted. An undo says so, even if
// it noted none.
func TestUndoOfAKilledImport(t *testing.T) {
	t.Parallel()
	a := &api{tb: t, session: newSession(t, dynamotest.Dynoxide(t))}
	begun := must.Get(importer.NewRegistry(a.session.Client, a.session.Table).Begin(t.Context(), "cups.csv"))(t)
	loader := dynamo.NewLoader(a.session.Client, a.session.Table, 0)
	loader.Import = begun.Number
	must.Get(loader.Load(t.Context(), commenttest.Many(commenttest.Rand(t), "cup", 3)))(t)
	status, out, said := a.talkback("import", "--undo", "cups.csv", "--yes")
	want := "cups.csv still runs, or was killed: it added 0 comments or more. To find them, this reads the whole table"
	if status != 0 || out != "3 comments are removed\n" || !strings.HasPrefix(said, want) {
		t.Errorf("status %d, %s%s", status, out, said)
	}
}

// A program that the tests build detects languages.
func TestImportDetectsLanguages(t *testing.T) {
	bin := must.Get(filepath.Abs(filepath.Join("..", "bin")))(t)
	if _, err := os.Stat(filepath.Join(bin, "talkback-languages")); err != nil {
		provisiontest.LeaveOut(t, fmt.Errorf("languages of reviews: there is no bin/talkback-languages; %w", provisiontest.ErrNotInstalled))
	}
	t.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	i := newImporter(t, dynamotest.Dynoxide(t))
	file := write(t, "mixed.csv", `id,product,rating,text,date
1,lamp,5,"Eine sehr schöne Lampe, die ich gern empfehle.",2015-08-20
2,lamp,4,"Une très belle lampe, je la recommande à tout le monde.",2015-08-21
3,lamp,3,"The lamp is nice, but the cable is much too short.",2015-08-22
4,lamp,2,???,2015-08-23
`+"5,lamp,1,"+strings.Repeat("<3 ", 1<<20)+",2015-08-24\n") // too long, but no reason to stop
	i.want(summary(5, 4, 0, 0, 1)+"The rejected rows, with line and reason, are in "+file+".rejects.tsv\n", file, "--detect-language", "de,en,fr")
	a := newAPIOf(t, i.endpoint, i.table)
	var languages []string
	for _, e := range a.page(list{product: "lamp", order: "NEWEST_FIRST", size: 10}.variables(false, nil)).Edges {
		languages = append(languages, string(e.Node.Language))
	}
	check.Equal(t, []string{"und", "en", "fr", "de"}, languages)
	for among, want := range map[string]string{"de,tlh": `the language "tlh" cannot be told: leave it out`, "en-US,en-GB": "give at least two languages to choose from"} {
		if status, _, said := i.run(t.Context(), file, "--detect-language", among); status != 2 || !strings.Contains(said, want) {
			t.Errorf("%s: status %d: %s", among, status, said)
		}
	}
}

// Each item of an import that was damaged by hand is named with the cure and without its values,
// and other imports are listed. An import or an undo of such a name is refused.
func TestDamagedImports(t *testing.T) {
	t.Parallel()
	a := &api{tb: t, session: newSession(t, dynamotest.Dynoxide(t))}
	must.Get(importer.NewRegistry(a.session.Client, a.session.Table).Begin(t.Context(), "well"))(t)
	const address = "ada@shop.example"
	damaged := map[string]layout.Item{
		"empty":    {},
		"text":     {"n": layout.Text(address), "b": layout.Number(1)},
		"zero":     {"n": layout.Number(0), "b": layout.Number(1)},
		"negative": {"n": layout.Number(7), "b": layout.Number(1), "w": layout.Number(-5)},
		"large":    {"n": layout.Number(8), "b": layout.Text(strings.Repeat(address, 300<<10/len(address)))},
	}
	for name, item := range damaged {
		maps.Copy(item, layout.Key("IMPORTS", "N#"+name))
		put(t, a.session.Client, a.session.Table, item)
	}
	a.names(1, damaged, "IMPORTS/N#", "repair their items", "import", "--list")
	if _, out, _ := a.talkback("import", "--list"); !strings.Contains(out, "well") {
		t.Errorf("the import that is not damaged is not listed:\n%s", out)
	}
	for name, item := range damaged {
		a.names(1, map[string]layout.Item{name: item}, "IMPORTS/N#", "repair the item", "import", "--undo", name, "--yes")
	}
}
