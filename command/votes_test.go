package command_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/talkback/talkback/auth"
	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/internal/commenttest"
	"github.com/talkback/talkback/internal/dynamotest"
)

// Before a vote is counted, the payload already includes it, also again and within one operation. A sender that is
// neither a customer nor a visitor is told so, and offered no visitor's token.
func TestVotesBeforeTheyAreCounted(t *testing.T) {
	t.Parallel()
	guard, err := auth.New(t.Context(), auth.Settings{ModeratorToken: moderatorToken})
	if err != nil {
		t.Fatal(err)
	}
	visitors, err := auth.NewVisitors(guard, strings.Repeat("v", 32), nil)
	if err != nil {
		t.Fatal(err)
	}
	a := newAPI(t, dynamotest.Dynoxide(t))
	a.authorizer = visitors
	a.useClient(a.session.Client)
	c := commenttest.Random(commenttest.Rand(t), "teapot")
	c.ImportedVotes, c.Votes = comment.VoteCounts{}, comment.VoteCounts{}
	a.load(c)
	var made struct{ CreateVisitorToken struct{ Token string } }
	a.mustAsk(`mutation { createVisitorToken { token } }`, nil, &made)
	for _, row := range []struct{ token, votes, want string }{
		{made.CreateVisitorToken.Token, "HELPFUL", `1 0 HELPFUL`},
		{made.CreateVisitorToken.Token, "HELPFUL NOT_HELPFUL NOT_HELPFUL NONE", `1 0 HELPFUL, 0 1 NOT_HELPFUL, 0 1 NOT_HELPFUL, 0 0 NONE`},
		{moderatorToken, "HELPFUL", `FORBIDDEN`},
		{"expired", "HELPFUL", `UNAUTHENTICATED`},
	} {
		a.header = "Bearer " + row.token
		if got := a.votes(string(c.ID), strings.Fields(row.votes)...); got != row.want {
			t.Errorf("%s: %q, want %q", row.votes, got, row.want)
		}
	}
}

// votes sends several votes about a comment in one operation. It returns what each payload shows, or the error's code.
func (a *api) votes(id string, votes ...string) string {
	a.tb.Helper()
	query := "mutation ($id: ID!) {"
	for i, vote := range votes {
		query += fmt.Sprintf(" v%d: voteOnComment(input: {id: $id, vote: %s}) { comment { votes { helpful notHelpful viewerVote } } }", i, vote)
	}
	got := a.ask(query+" }", map[string]any{"id": id})
	if len(got.Errors) > 0 {
		return fmt.Sprint(got.Errors[0].Extensions["code"])
	}
	var payloads map[string]struct {
		Comment struct {
			Votes struct {
				Helpful, NotHelpful int
				ViewerVote          string
			}
		}
	}
	if err := json.Unmarshal(got.Data, &payloads); err != nil {
		a.tb.Fatal(err)
	}
	var shown []string
	for i := range votes {
		of := payloads[fmt.Sprint("v", i)].Comment.Votes
		shown = append(shown, fmt.Sprint(of.Helpful, of.NotHelpful, " ", of.ViewerVote))
	}
	return strings.Join(shown, ", ")
}
