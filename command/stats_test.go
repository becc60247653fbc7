package command_test

import (
	"fmt"
	"math/rand/v2"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/call"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/internal/commenttest"
	"github.com/talkback/talkback/internal/commenttest/goldentest"
	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/internal/dynamotest"
)

var (
	ratingRow   = regexp.MustCompile(`(?m)^(★+)☆* .* ([\d,]+) +[\d.]+ %$`)
	languageRow = regexp.MustCompile(`(?m)^(\S+) +([\d,]+) +[\d.]+ % +[\d.]+$`)
	freshness   = regexp.MustCompile(`20\d\d-\d\d-\d\d [\d:.]+ UTC, .* ago`)
)

// stats prints the counts of the comments that pass the filter, whichever way they are counted.
// They come from the statistics, from rows that languages share, or from a range of dates.
func TestStats(t *testing.T) {
	t.Parallel()
	e := newExporter(t, dynamotest.Dynoxide(t))
	r := rand.New(rand.NewPCG(7, 7))
	globe := commenttest.Many(r, "globe", 400)
	languages := make([]comment.Language, comment.MaxLanguageRows+20) // more than can have rows of their own
	for i := range languages {
		languages[i] = comment.Language(fmt.Sprintf("en-x-n%03d", i))
	}
	var babel []comment.Comment
	for i := range 2 * len(languages) {
		c := commenttest.Random(r, "babel")
		c.Language = languages[i%len(languages)]
		babel = append(babel, c)
	}
	e.fill(slices.Concat(globe, babel, commenttest.Many(r, "mug \u2764", 1)))
	e.must("rebuild")
	for _, row := range []struct {
		comments  []comment.Comment
		arguments string
		passes    func(comment.Comment) bool
		languages bool // whether they are printed
	}{
		{globe, "globe", func(comment.Comment) bool { return true }, true},
		{globe, "globe --languages en,de", func(c comment.Comment) bool { return c.Language == "en" || c.Language == "de" }, true},
		{globe, "globe --ratings 1,4", func(c comment.Comment) bool { return c.Rating == 1 || c.Rating == 4 }, true},
		{globe, "globe --created-after 2020-01-01 --ratings 5", func(c comment.Comment) bool { return c.Rating == 5 && c.CreatedAt().Year() >= 2020 }, false},
		{globe, "globe --created-before 2020-01-01 --languages en", func(c comment.Comment) bool { return c.Language == "en" && c.CreatedAt().Year() < 2020 }, false},
		{globe, "globe --languages tlh", func(comment.Comment) bool { return false }, true},
		{babel, "babel", func(comment.Comment) bool { return true }, true},
		{babel, "babel --languages " + string(languages[3]+","+languages[len(languages)-1]), func(c comment.Comment) bool {
			return c.Language == languages[3] || c.Language == languages[len(languages)-1]
		}, true},
	} {
		status, out, said := e.run(t.Context(), "stats", strings.Fields(row.arguments)...)
		if status != 0 || said != "" {
			t.Errorf("%s: status %d, %s", row.arguments, status, said)
		}
		kept := slices.DeleteFunc(slices.Clone(row.comments), func(c comment.Comment) bool { return !row.passes(c) })
		checkStats(t, row.arguments, out, kept, row.languages)
	}
}

// checkStats compares printed counts with comments.
func checkStats(t *testing.T, why, text string, comments []comment.Comment, languages bool) {
	t.Helper()
	ratings, byLanguage, latest := map[int]int{}, 0, time.Time{}
	for _, c := range comments {
		ratings[c.Rating]++
		if c.CreatedAt().After(latest) {
			latest = c.CreatedAt()
		}
	}
	got := map[int]int{}
	for _, row := range ratingRow.FindAllStringSubmatch(text, -1) {
		if n, err := strconv.Atoi(row[2]); err == nil && n > 0 {
			got[len([]rune(row[1]))] = n
		}
	}
	if diff := cmp.Diff(ratings, got); diff != "" {
		t.Errorf("%s: %s\n%s", why, diff, text)
	}
	for _, row := range languageRow.FindAllStringSubmatch(text, -1) {
		n, _ := strconv.Atoi(row[2])
		byLanguage += n
	}
	if languages && byLanguage != len(comments) || !languages && byLanguage > 0 {
		t.Errorf("%s: the languages have %d comments of %d\n%s", why, byLanguage, len(comments), text)
	}
	written := "none"
	if len(comments) > 0 {
		written = latest.UTC().Format("2006-01-02 15:04:05.000 UTC")
	}
	if !strings.Contains(text, "latest comment  "+written) {
		t.Errorf("%s: the latest comment is of %s\n%s", why, written, text)
	}
}

// Before anything was counted, an error is printed rather than wrong numbers.
func TestStatsOfWhatIsNotCounted(t *testing.T) {
	t.Parallel()
	e := newExporter(t, dynamotest.Dynoxide(t))
	e.fill(commenttest.Many(commenttest.Rand(t), "globe", 3))
	if status, out, said := e.run(t.Context(), "stats", "globe"); status != 1 || !strings.Contains(said, "counted") || out != "" {
		t.Errorf("status %d, %s%s", status, said, out)
	}
	if status, out, said := e.run(t.Context(), "stats", "globe", "--created-after", "2000-01-01"); status != 0 || !strings.Contains(out, "3 comments") || freshness.MatchString(out) {
		t.Errorf("a range of dates is counted at once: %s%s", out, said)
	}
}

// Counts that someone damaged by hand are an error that says what to do.
func TestStatsThatAreDamaged(t *testing.T) {
	t.Parallel()
	e := newExporter(t, dynamotest.Dynoxide(t))
	e.fill(commenttest.Many(commenttest.Rand(t), "globe", 3))
	e.must("rebuild")
	damage(t, call.NewLocalClient(e.endpoint), e.table, layout.ProductKey("globe", layout.StatisticsSK), layout.AttrGrid, layout.Text("none"))
	if status, _, said := e.run(t.Context(), "stats", "globe"); status != 1 || !strings.Contains(said, "talkback rebuild mends it") {
		t.Errorf("status %d, %s", status, said)
	}
	e.must("rebuild")
	e.must("stats", "globe")
}

var (
	seconds      = regexp.MustCompile(`in [0-9.]+ s`)
	progressLine = regexp.MustCompile(`(?m)^[0-9,]+ [a-z]+, .*\n`)
)

// counted are comments of two products that are always the same.
func counted(perProduct int) []comment.Comment {
	var out []comment.Comment
	position := comment.FirstAt(time.Date(2024, 5, 1, 0, 0, 0, 0, time.UTC))
	for i := range 2 * perProduct {
		position = position.Next()
		out = append(out, comment.Comment{
			ID: comment.IDOf(position), ProductID: []string{"cup", "mug \x1b[1m"}[i%2], Language: []comment.Language{"en", "de", "fr"}[i%3],
			Rating: 1 + i%comment.MaxRating, Version: 1, Author: comment.Author{ID: "a", Name: "Ada"},
		})
	}
	return out
}

// says runs a command and returns its output, without progress and durations.
func (e *exporter) says(name string, arguments ...string) string {
	e.t.Helper()
	status, out, said := e.run(e.t.Context(), name, arguments...)
	text := fmt.Sprintf("$ talkback %s\n%s%sstatus %d\n\n", strings.Join(append([]string{name}, arguments...), " "), out, said, status)
	return seconds.ReplaceAllString(progressLine.ReplaceAllString(text, ""), "in N s")
}

// The output of rebuild and verify is in testdata/rebuild.golden.
func TestRebuildAndVerify(t *testing.T) {
	t.Parallel()
	e := newExporter(t, dynamotest.Dynoxide(t))
	e.fill(counted(4))
	var got strings.Builder
	for _, arguments := range [][]string{
		{"verify"}, {"rebuild"}, {"verify"}, {"rebuild"}, {"rebuild", "--leader-shards", "1"}, {"verify"},
	} {
		got.WriteString(e.says(arguments[0], arguments[1:]...))
	}
	goldentest.Compare(t, "testdata/rebuild.golden", []byte(got.String()))
}

// While a rebuild is at work, another one says which process it is. When the first is killed,
// another goes on after some seconds, and completes it correctly.
func TestRebuildKilled(t *testing.T) {
	t.Parallel()
	e := newExporter(t, dynamotest.Dynoxide(t))
	e.fill(counted(150))
	program := binary(t)
	g := newGate(t, e.endpoint, "TransactWriteItems", 3)
	gated := *e
	gated.endpoint = g.URL
	process := exec.Command(program, gated.arguments("rebuild")...)
	must.Do(t, process.Start())
	<-g.shut
	want := fmt.Sprintf("talkback: a rebuild is under way, by talkback rebuild (pid %d on ", process.Process.Pid)
	if status, _, said := e.run(t.Context(), "rebuild"); status != 1 || !strings.HasPrefix(said, want) || !strings.Contains(said, "wait") {
		t.Errorf("a second rebuild: status %d, %s", status, said)
	}
	_ = process.Process.Kill()
	_ = process.Wait()
	if said := e.says("rebuild"); !strings.Contains(said, "continued an interrupted rebuild") {
		t.Errorf("after the first was killed: %s", said)
	}
	e.must("verify")
}
