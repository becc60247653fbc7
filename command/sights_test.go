package command_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/graph"
	"github.com/talkback/talkback/internal/commenttest"
	"github.com/talkback/talkback/internal/dynamotest"
)

// sight is a field that some callers do not see.
type sight struct {
	name string
	// query has $id for the comment, which u1 wrote about the teapot, and shows in the answer of those
	// who see it.
	query, shows string
	// stored makes the comment what it is to be.
	stored func(*comment.Comment)
	may    []string
}

var (
	whoMayChange   = []string{theAuthor, theToken, aModerator, theShop, everyRole, thisMachine}
	whoMayModerate = []string{theToken, aModerator, everyRole, thisMachine}
)

func waits(c *comment.Comment) {
	c.Status, c.Moderation = comment.Pending, &comment.Moderation{Held: []comment.HoldReason{comment.HeldAlways}, Since: c.CreatedAt()}
}

func rejected(c *comment.Comment) {
	c.Status, c.Moderation = comment.Rejected, &comment.Moderation{Reason: new(comment.Offensive)}
}

func hasHeldEdit(c *comment.Comment) {
	c.Moderation = &comment.Moderation{
		Held: []comment.HoldReason{comment.HeldEdited}, Since: c.CreatedAt(),
		HeldEdit: &comment.HeldEdit{Rating: 1, Language: "en", Text: "An edit that waits.", At: c.CreatedAt(), Version: 2},
	}
}

func isShown(*comment.Comment) {}

// sights has at least one sight for each field that not everyone sees.
var sights = []sight{
	{"a comment that waits, by id", `{ comment(id: "$id") { text } }`, "As written.", waits, whoMayChange},
	{"a comment that waits, as a node", `{ node(id: "$id") { ... on Comment { text } } }`, "As written.", waits, whoMayChange},
	{"a comment that waits, in the list", `{ product(id: "teapot") { comments { totalCount nodes { text } } } }`, "As written.", waits, nil},
	{"a comment that waits, as the latest", `{ product(id: "teapot") { latestPositive { text } latestNegative { text } } }`, "As written.", waits, nil},
	{"a comment that waits, as the most helpful", `{ product(id: "teapot") { mostHelpfulPositive(orLatest: true) { text } mostHelpfulCritical(orLatest: true) { text } } }`, "As written.", waits, nil},
	{"when a comment that waits was written", `{ product(id: "teapot") { lastCommentedAt } }`, `"lastCommentedAt":"`, waits, nil},
	{"a rejected comment, in the list", `{ product(id: "teapot") { comments { totalCount nodes { text } } latestPositive { text } latestNegative { text } } }`, "As written.", rejected, nil},
	{"a rejected comment, by id", `{ comment(id: "$id") { text } }`, "As written.", rejected, whoMayChange},
	{"why a comment is rejected", `{ comment(id: "$id") { rejectionReason } }`, "OFFENSIVE", rejected, whoMayChange},
	{"an edit that waits", `{ comment(id: "$id") { heldEdit { text } } }`, "An edit that waits.", hasHeldEdit, whoMayChange},
	{"an edit that waits, in the list", `{ product(id: "teapot") { comments { nodes { heldEdit { text } } } } }`, "An edit that waits.", hasHeldEdit, nil},
	{"the customer's own comments", `{ viewer { comments { nodes { text } } } }`, "As written.", waits, []string{theAuthor}},
	{"the customer's own comment on a product", `{ product(id: "teapot") { viewerComment { text } } }`, "As written.", waits, []string{theAuthor}},
	{"the queue", `{ moderation { queue { nodes { comment { text } } } } }`, "As written.", waits, whoMayModerate},
	{"how many comments wait", `{ moderation { pending } }`, `"pending":`, waits, whoMayModerate},
	{"the audit", `{ moderation { audit(commentId: "$id") { note } } }`, `"audit":`, isShown, whoMayModerate},
	{"reports", `{ moderation { reports(commentId: "$id") { note } } }`, `"reports":`, isShown, whoMayModerate},
	{"what a customer wrote", `{ moderation { commentsBy(customerId: "u1") { latest { text } } } }`, "As written.", waits, whoMayModerate},
	{"an erasure", `{ moderation { erasure(customerId: "u1") { state } } }`, `"erasure":`, isShown, whoMayModerate},
}

// Each kind of caller sees exactly its sights.
func TestWhatEachCallerSees(t *testing.T) {
	t.Parallel()
	callers, r := everyCaller(t), commenttest.Rand(t)
	for _, s := range sights {
		for _, c := range callers {
			a := c.service
			a.header = c.header
			there := commenttest.Random(r, "teapot")
			there.ID = comment.IDOf(comment.PositionAt(time.Now().Add(-time.Minute), [10]byte{}))
			there.Author, there.Text, there.Version, there.UpdatedAt = comment.Author{ID: "u1", Name: "Ada"}, "As written.", 1, nil
			s.stored(&there)
			a.load(there)
			got := a.ask(strings.ReplaceAll(s.query, "$id", string(there.ID)), nil)
			a.delete(there.ID)
			if sees, may := strings.Contains(string(got.Data), s.shows), slices.Contains(s.may, c.name); sees != may {
				t.Errorf("%s: seen by %s: %v, want %v: %s %v", s.name, c.name, sees, may, got.Data, got.Errors)
			}
		}
	}
}

// A new field for moderators needs a row that says who sees it.
func TestEveryFieldOfModeratorsHasItsCallers(t *testing.T) {
	t.Parallel()
	for _, field := range graph.NewExecutableSchema(graph.Config{}).Schema().Types["Moderation"].Fields {
		if !slices.ContainsFunc(sights, func(s sight) bool { return strings.Contains(s.query, "moderation { "+field.Name) }) {
			t.Errorf("sights have no row for the field %s", field.Name)
		}
	}
}

// A praise or complaint beyond the first page is fetched by its id, with everything that is stored.
// Its edit that waits is not shown, neither when it comes beside the statistics nor when it comes
// alone.
func TestHeldEditOfALatestComment(t *testing.T) {
	t.Parallel()
	a := newAPI(t, dynamotest.Dynoxide(t))
	comments := commenttest.Many(commenttest.Rand(t), "teapot", 40)
	slices.SortFunc(comments, func(a, b comment.Comment) int { return strings.Compare(string(b.ID), string(a.ID)) })
	for i := range comments {
		comments[i].Rating = 3
	}
	complaint := &comments[30]
	complaint.Rating, complaint.Version, complaint.UpdatedAt = 1, 1, nil
	hasHeldEdit(complaint)
	a.load(comments...)
	a.count(arrived(comments...)...)
	service, client := pacedAPI(a)
	service.mustAsk(`{ product(id: "other") { stats { total } } }`, nil, &struct{}{}) // each process checks once whether anything was counted
	for _, how := range []string{"alone", "beside the statistics"} {
		client.expect()
		got := service.ask(`{ product(id: "teapot") {
			comments { nodes { id } } stats { total } latestNegative { id heldEdit { text } }
		} }`, nil)
		if answer := string(got.Data); !strings.Contains(answer, string(complaint.ID)) || strings.Contains(answer, "An edit that waits.") {
			t.Errorf("%s: %s %v", how, answer, got.Errors)
		}
		if !slices.Contains(client.made(), "BatchGetItem") {
			t.Errorf("%s: %v, so it was not fetched by its id", how, client.made())
		}
	}
}
