package relational_test

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/talkback/talkback/comment"
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
	each(t, func(t *testing.T, db database) {
		s, all := db.opening(t), entries(3000)
		apply(t, s, all...)
		if db.shared {
			db.exec(t, `VACUUM ANALYZE`)
		}
		own := database{raw: s.Connections(), shared: db.shared, first: "?"} // with the store's settings
		for name, filter := range filters {
			for _, order := range []comment.Order{comment.NewestFirst, comment.OldestFirst} {
				list := pageindex.List{Product: all[0].Product, Filter: filter, Order: order}
				for _, statement := range s.Statements(list, all[500].Position) {
					if wrong := own.judge(own.plan(t, statement.Text, statement.Args)); wrong != "" {
						t.Errorf("%s, %s: %s in the plan of\n%s", name, order, wrong, statement.Text)
					}
				}
			}
		}
	})
}

// plan returns the database's plan of a statement, with a line for each step and condition.
func (db database) plan(t *testing.T, text string, args []any) []string {
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
func (db database) judge(plan []string) string {
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
