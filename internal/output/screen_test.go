package output

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/talkback/talkback/internal/commenttest/check"
)

func TestFold(t *testing.T) {
	for _, row := range []struct {
		text, want, why string
	}{
		{"one two three four five", "one two three four\n  five", "the rest is indented"},
		{"  one two three four five", "  one two three four\n    five", "by more than its beginning"},
		{"one\ntwo\n", "one\ntwo\n", "lines that fit stay"},
		{"c_01HZ0000000400000000000000 is gone", "c_01HZ0000000400000000000000\n  is gone", "an id stays whole, so that it can be copied"},
		{"comment c_01HZ0000000400000000000000", "comment\n  c_01HZ0000000400000000000000", "though it fits nowhere"},
		{"陶器の湯のみ 茶碗 良い", "陶器の湯のみ 茶碗\n  良い", "a wide character takes two columns"},
		{"\x1b[1mone\x1b[0m two three four", "\x1b[1mone\x1b[0m two three four", "what colors takes none"},
		{"", "", "nothing"},
	} {
		check.Equal(t, row.want, Screen{Columns: 20}.Fold(row.text), row.why)
		if got := (Screen{}).Fold(row.text); got != row.text {
			t.Errorf("%s: a file gets %q", row.why, got)
		}
	}
	if got := (Screen{Columns: 500}).Fold(strings.Repeat("word ", 40) + "end"); Width(strings.Split(got, "\n")[0]) > Readable {
		t.Errorf("a wide terminal gets lines that are hard to read: %q", got)
	}
}

// A table loses nothing on a narrow screen, and no line is wider than that except for a word that
// is.
func TestTablesFit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		screen := Screen{Columns: rapid.IntRange(leastColumns, 120).Draw(t, "columns"), Style: Style(rapid.Bool().Draw(t, "style"))}
		table := NewTable("READ", "INDEX", "LIMIT", "")
		var words []string
		for range rapid.IntRange(0, 4).Draw(t, "rows") {
			cells := make([]string, rapid.SampledFrom([]int{4, 4, 3}).Draw(t, "cells"))
			for i := range cells {
				cells[i] = Printable(rapid.SampledFrom([]string{"P#42/5", "陶器の湯のみ", "👩‍👧", "7", "\x1b[2J", "كتاب", strings.Repeat("x", 130)}).Draw(t, "cell"))
				words = append(words, cells[i])
				if screen.Style && i == 3 {
					cells[i] = screen.Good(cells[i])
				}
			}
			table.Row(cells...)
		}
		text := table.On(screen)
		for line := range strings.Lines(text) {
			if line = strings.TrimSuffix(line, "\n"); Width(line) > screen.Columns && len(strings.Fields(line)) > 2 && !strings.Contains(line, "xxx") {
				t.Errorf("on %d columns a line takes %d: %q", screen.Columns, Width(line), line)
			}
			if strings.TrimRight(line, " ") != line {
				t.Errorf("%q ends in spaces", line)
			}
		}
		for _, word := range words {
			if !strings.Contains(text, word) {
				t.Errorf("%q is lost in %q", word, text)
			}
		}
	})
}

// Columns begin below each other, whatever stands in them; a short row spans the columns that it
// lacks.
func TestTable(t *testing.T) {
	table := NewTable("READ", "INDEX", "LIMIT", "UNITS", "")
	table.Row("P#陶器", "all", "21", "0.5", "chosen")
	table.Row("P#👩‍👧/5", "byRating", "7", "", "")
	table.Row("P#x", "all", "skipped: empty")
	for columns, want := range map[int]string{
		0: `READ    INDEX     LIMIT  UNITS  
P#陶器  all       21     0.5    chosen
P#👩‍👧/5  byRating  7             
P#x     all       skipped: empty
`,
		38: `READ    INDEX     LIMIT  UNITS
P#陶器  all       21     0.5    chosen
P#👩‍👧/5  byRating  7
P#x     all       skipped: empty
`,
		36: `READ
P#陶器
  index: all, limit: 21, units: 0.5,
  chosen
P#👩‍👧/5
  index: byRating, limit: 7
P#x
  index: all, skipped: empty
`,
	} {
		check.Equal(t, want, table.On(Screen{Columns: columns}), columns, "columns")
	}
}
