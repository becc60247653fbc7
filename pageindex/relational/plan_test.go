package relational

import (
	"iter"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/pageindex"
)

// Every lookup reads comments from the index only, as an ordered range of positions, and the counts
// of blocks by key.
func TestPlans(t *testing.T) {
	after, before := time.Date(2023, 3, 3, 0, 0, 0, 0, time.UTC), time.Date(2023, 8, 8, 0, 0, 0, 0, time.UTC)
	filters := map[string]comment.Filter{
		"all":            {},
		"ratings":        {Ratings: []int{4, 5}},
		"a language":     {Languages: []comment.Language{"de"}, Ratings: []int{1}},
		"languages":      {Languages: []comment.Language{"de", "en", "ja"}},
		"dates":          {CreatedAfter: &after, CreatedBefore: &before},
		"all conditions": {Languages: []comment.Language{"de", "en"}, Ratings: []int{1, 5}, CreatedAfter: &after},
	}
	each(t, func(t *testing.T, db testDatabase) {
		s, all := db.opening(t), entries(3000)
		apply(t, s, all...)
		if db.shared {
			db.exec(t, `VACUUM ANALYZE`)
		}
		own := testDatabase{raw: s.db.Read, shared: db.shared, first: "?"} // with the store's settings
		for name, filter := range filters {
			for _, order := range []comment.Order{comment.NewestFirst, comment.OldestFirst} {
				list := pageindex.List{Product: product, Filter: filter, Order: order}
				for text, args := range s.statements(list, all[500].Position) {
					if wrong := own.judge(own.plan(t, text, args)); wrong != "" {
						t.Errorf("%s, %s: %s in the plan of\n%s", name, order, wrong, text)
					}
				}
			}
		}
	})
}

// A sweep reads as many deletions as it removes, however many there are.
func TestPlanOfSweep(t *testing.T) {
	each(t, func(t *testing.T, db testDatabase) {
		s, all := db.opening(t), entries(20_000)
		for i := range all {
			all[i].Cell = nil
		}
		must.Do(t, s.Apply(t.Context(), all))
		if db.shared {
			db.exec(t, `VACUUM ANALYZE`)
		}
		own := testDatabase{raw: s.db.Write, shared: db.shared, first: "?"} // with the store's settings
		plan := strings.Join(own.plan(t, s.sql.Replace(sweepEntries), []any{time.Now().UnixMilli(), batch}), "\n")
		byKey := regexp.MustCompile(`Index Scan using entries_pkey on entries|SEARCH entries USING PRIMARY KEY \(generation=\? AND product=\? AND position=\?\)`)
		if !byKey.MatchString(plan) {
			t.Errorf("the sweep does not find rows by their key:\n%s", plan)
		}
	})
}

// statements returns the statements of a lookup with their arguments. The first counts. The second
// finds a position 10 comments after the beginning of its block, one 10 before the end, and the
// number of comments before a position in its block.
func (s *Store) statements(list pageindex.List, at comment.Position) iter.Seq2[string, []any] {
	return func(yield func(string, []any) bool) {
		l := newListQuery(list)
		text, args := l.countStatement()
		locate := l.locateStatement(1)
		locate.position(blockCount{block: blockOf(at), n: 100}, 11)
		locate.position(blockCount{block: blockOf(at), n: 100}, 90)
		locate.countUpTo(at)
		_ = yield(s.sql.Replace(text), args) && yield(s.sql.Replace(locate.text()), locate.args)
	}
}

// plan returns the database's plan of a statement, with a line for each step and condition.
func (db testDatabase) plan(t *testing.T, text string, args []any) []string {
	t.Helper()
	if db.shared {
		return db.texts(t, "EXPLAIN "+text, args...)
	}
	return db.texts(t, "EXPLAIN QUERY PLAN "+text, args...)
}

var (
	// The allowed steps of SQLite: read the store's row, find a range by the key, and collect
	// groups.
	sqliteSteps = regexp.MustCompile(`^(SCAN store$|SEARCH store |SCAN CONSTANT ROW$|SCALAR SUBQUERY|COMPOUND QUERY|LEFT-MOST SUBQUERY|UNION ALL$|USE TEMP B-TREE FOR GROUP BY|LIST SUBQUERY|` +
		`SEARCH blocks USING PRIMARY KEY \(generation=\? AND product=\?|` +
		`SEARCH entries USING PRIMARY KEY \(generation=\? AND product=\? AND position>\? AND position<\?\)$)`)
	// How PostgreSQL reads tables in a plan, and the reads that are allowed.
	postgresScans = regexp.MustCompile(`(\w+ )+(using \w+ )?on \w+`)
	postgresReads = regexp.MustCompile(`Seq Scan on store|Index Scan using blocks_pkey on blocks|Index Only Scan (Backward )?using entries_pkey on entries`)
)

// judge returns a line of a plan that is not allowed, empty if all are.
func (db testDatabase) judge(plan []string) string {
	for i, line := range plan {
		switch {
		case !db.shared:
			if !sqliteSteps.MatchString(line) {
				return line
			}
		case postgresScans.MatchString(line) && !postgresReads.MatchString(line):
			return line
		case strings.Contains(line, "on entries") && (i+1 == len(plan) || !strings.Contains(plan[i+1], `("position" >= `) || !strings.Contains(plan[i+1], `("position" <= `)):
			return line + plan[i+1]
		}
	}
	return ""
}
