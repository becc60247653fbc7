package pagesbench

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo"
	"github.com/talkback/talkback/dynamo/planner"
	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/internal/planbench"
	"github.com/talkback/talkback/internal/postgrestest"
)

// farthest is the last page to walk to by cursor.
const farthest = 1000

// walker walks by cursor, page by page, with the plans that statistics allow.
type walker struct{ store *dynamo.Store }

func newWalker(t *testing.T, comments []comment.Comment) walker {
	table := planbench.NewTable(comments)
	stats := comment.Stats{}
	for _, c := range comments {
		stats.Add(c.Cell(), 1)
	}
	return walker{table.Store(dynamo.Options{Knowledge: func(comment.Query) planner.Knowledge {
		return planner.Knowledge{Stats: stats, AsOf: time.Unix(0, 0), Trusted: true}
	}})}
}

// walk measures the way to each of some pages, ascending. The table answers from memory, so its
// time is left out.
func (w walker) walk(t *testing.T, comments int, list list, pages []int) (rows []row) {
	slice := comment.Slice{Size: pageSize}
	r := row{Comments: int64(comments), Store: "walk by cursor", Operation: jump, Filter: list.name}
	for page := 1; page <= min(pages[len(pages)-1], farthest); page++ {
		got, err := w.store.Comments(t.Context(), comment.Query{
			Product: list.Product, Filter: list.Filter, Order: list.Order, Slice: slice, WithoutText: true,
		})
		must.Do(t, err)
		if want := list.page(page); len(got.Comments) != len(want) || got.Comments[0].ID.Position() != want[0] {
			t.Fatalf("walking to page %d of %s shows other comments", page, list.name)
		}
		slice.After = comment.At(got.Comments[len(got.Comments)-1].ID.Position())
		r.Calls, r.Units = r.Calls+int64(got.Plan().Queries), r.Units+got.Plan().ReadUnits
		if slices.Contains(pages, page) {
			r.Page = int64(page)
			rows = append(rows, r)
		}
	}
	return rows
}

// wholeRows is a PostgreSQL table of whole comments, with the indexes that its filters suggest.
type wholeRows struct {
	db *pgx.Conn
}

const wholeTable = `
CREATE TABLE comments (
	product TEXT COLLATE "C" NOT NULL, position BYTEA NOT NULL, language TEXT COLLATE "C" NOT NULL, rating SMALLINT NOT NULL,
	author TEXT NOT NULL, title TEXT, text TEXT NOT NULL, PRIMARY KEY (product, position));
CREATE INDEX by_cell ON comments (product, language, rating, position);
CREATE INDEX by_rating ON comments (product, rating, position)`

func newWholeRows(t *testing.T, comments []comment.Comment) wholeRows {
	db := connect(t, postgrestest.Database(t))
	must.Get(db.Exec(t.Context(), wholeTable))(t)
	_, err := db.CopyFrom(t.Context(), pgx.Identifier{"comments"},
		[]string{"product", "position", "language", "rating", "author", "title", "text"},
		pgx.CopyFromSlice(len(comments), func(i int) ([]any, error) {
			c, p := comments[i], comments[i].ID.Position()
			return []any{c.ProductID, p[:], string(c.Language), c.Rating, c.Author.Name, c.Title, c.Text}, nil
		}))
	must.Do(t, err)
	must.Get(db.Exec(t.Context(), `VACUUM ANALYZE comments`))(t)
	return wholeRows{db}
}

// where returns the condition that selects a list.
func (w wholeRows) where(l list) (text string, args []any) {
	text, args = ` FROM comments WHERE product = $1`, []any{l.Product}
	if low, high := l.Filter.Range(); low != (comment.Position{}) || high != comment.MaxPosition {
		args = append(args, low[:], high[:])
		text += ` AND position BETWEEN $2 AND $3`
	}
	if len(l.Filter.Ratings) > 0 {
		args = append(args, l.Filter.Ratings)
		text += fmt.Sprintf(" AND rating = ANY($%d)", len(args))
	}
	if len(l.Filter.Languages) > 0 {
		languages := make([]string, len(l.Filter.Languages))
		for i, language := range l.Filter.Languages {
			languages[i] = string(language)
		}
		args = append(args, languages)
		text += fmt.Sprintf(" AND language = ANY($%d)", len(args))
	}
	return text, args
}

// page reads a page of whole comments and counts the list, as a page with numbered links needs.
func (w wholeRows) page(t *testing.T, l list, page int) {
	where, args := w.where(l)
	var total int
	if err := w.db.QueryRow(t.Context(), `SELECT COUNT(*)`+where, args...).Scan(&total); err != nil || total != len(l.positions) {
		t.Fatalf("PostgreSQL counts %d comments of %s (%v), want %d", total, l.name, err, len(l.positions))
	}
	text := fmt.Sprintf(`SELECT position, language, rating, author, title, text %s ORDER BY position DESC LIMIT %d OFFSET $%d`,
		where, pageSize, len(args)+1)
	rows := must.Get(w.db.Query(t.Context(), text, append(args, (page-1)*pageSize)...))(t)
	defer rows.Close()
	want := l.page(page)
	for i := 0; rows.Next(); i++ {
		values, err := rows.Values()
		if err != nil || i >= len(want) || comment.Position(values[0].([]byte)) != want[i] {
			t.Fatalf("PostgreSQL shows other comments on page %d of %s (%v)", page, l.name, err)
		}
	}
	must.Do(t, rows.Err())
}
