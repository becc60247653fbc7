package command_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/talkback/talkback/auth"
	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/leases"
	"github.com/talkback/talkback/internal/commenttest"
	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/internal/faulttest"
	"github.com/talkback/talkback/pageindex/table"
)

// reportThreshold is how many reports send a comment to moderators in this test.
const reportThreshold = 2

// crowdOf is all users of two products' comments, with their common knowledge.
type crowdOf struct {
	*api
	ledger *ledger
	kept   *table.Index // of page numbers, kept beside the counts

	mu       sync.Mutex
	owners   map[string]string // customers, by the ids of their comments
	edited   map[string]bool   // versions of comments that an edit has replaced
	verdicts []*ruling
	votes    map[string]map[string][]comment.Vote // by comment and customer; those that may be the last one
	networks []*faulttest.Network
}

// ruling is an attempted decision.
type ruling struct {
	id, by, note string
	version      int
	about        int // the number of the words that the moderator saw
	reject       bool
	showing      *span // unless it is rejected
	outcome      outcome
	within       span
}

var debated = []string{"globe", "a/b#c"}

// person is someone with a token, who uses servers with different policies over bad networks.
type person struct {
	*crowdOf
	name   string
	random *rand.Rand
	token  string
	// publishing, holding and hiding are servers of these policies.
	publishing, holding, hiding *api
}

func newCrowd(t *testing.T, endpoint string) *crowdOf {
	t.Helper()
	a := newAPI(t, endpoint)
	guard := must.Get(auth.New(t.Context(), auth.Settings{ModeratorToken: moderatorToken, Algorithm: "HS256", Key: sharedSecret, RolesClaim: "roles"}))(t)
	pages := table.New(a.session.Client, a.session.Table)
	a.authorizer, a.pages, a.watermark = guard, pages, leases.NewLeases(a.session.Client, a.session.Table)
	a.serve.ReportThreshold = reportThreshold
	a.useClient(a.session.Client)
	return &crowdOf{api: a, ledger: newLedger(), kept: pages, owners: map[string]string{}, edited: map[string]bool{}, votes: map[string]map[string][]comment.Vote{}}
}

// joined returns a new person. One of faults of their calls to the table fails; none if faults is
// 0.
func (c *crowdOf) joined(t *testing.T, r *rand.Rand, name string, faults int, roles ...string) *person {
	t.Helper()
	p := &person{crowdOf: c, name: name, random: rand.New(rand.NewPCG(r.Uint64(), 3))}
	p.token = signed(t, jwt.MapClaims{"sub": name, "exp": time.Now().Add(time.Hour).Unix(), "roles": append([]string{}, roles...)})
	client := c.session.Client
	if faults > 0 {
		var network *faulttest.Network
		client, network = faulttest.Under(client, faulttest.OneIn(p.random, faults))
		c.networks = append(c.networks, network)
	}
	server := func(policy, edits string) *api {
		a := &api{tb: t, session: c.session, authorizer: c.authorizer, pages: c.pages, watermark: c.watermark, serve: c.serve}
		a.serve.Policy, a.serve.Moderation.Edits = policyOf(t, policy), edits
		a.useClient(client)
		return a
	}
	p.publishing, p.holding, p.hiding = server("publish", "beside"), server("hold", "beside"), server("hold", "hide")
	return p
}

// try sends an operation, and reads the data of an answer without errors. Its sender may give up at
// any moment.
func (p *person) try(a *api, query string, variables map[string]any, data any) (got answer, text string, within span, err error) {
	p.tb.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	if p.name != "" && p.random.IntN(12) == 0 {
		time.AfterFunc(time.Duration(p.random.IntN(8_000))*time.Microsecond, cancel)
	}
	within = span{from: time.Now(), to: forever}
	said, err := send(ctx, http.DefaultTransport, http.MethodPost, a.server.URL+"/graphql", operation(query, variables), bearer(p.token))
	if said.status == 0 {
		return got, "", within, err
	}
	if err == nil {
		err = json.Unmarshal([]byte(said.body), &got)
	}
	within.to = time.Now()
	if err == nil && len(got.Errors) == 0 {
		must.Do(p.tb, json.Unmarshal(got.Data, data))
	}
	return got, said.body, within, err
}

// state is a comment as its author and moderators see it.
type state struct {
	ID, Text, Status string
	Version          int
	HeldEdit         *struct {
		Text    string
		Version int
	}
}

const stateFields = `{ id text status version heldEdit { text version } }`

// latest is the version that its author wrote last.
func (s state) latest() int {
	if s.HeldEdit != nil {
		return s.HeldEdit.Version
	}
	return s.Version
}

// change sends a mutation, and notes the state of the comment in the payload.
func (p *person) change(a *api, field, inputType string, input map[string]any) (outcome, *state, span) {
	p.tb.Helper()
	var data struct {
		Payload *struct {
			Comment    *state
			UserErrors []struct{ Code, Message string }
		}
	}
	got, text, within, err := p.try(a, `mutation ($input: `+inputType+`!) { payload: `+field+`(input: $input) { comment `+stateFields+` userErrors { code message } } }`, map[string]any{"input": input}, &data)
	switch {
	case err != nil:
		return unknown, nil, within
	case len(got.Errors) > 0:
		if code := got.Errors[0].Extensions["code"]; code == "THROTTLED" {
			return refused, nil, within
		} else if code != "UNAVAILABLE" && code != "TIMEOUT" && code != "CANCELED" {
			p.tb.Errorf("%s by %s: %s", field, p.name, text)
		}
		within.to = forever
		return unknown, nil, within
	}
	id := fmt.Sprint(input["id"])
	if problems := data.Payload.UserErrors; len(problems) > 0 {
		switch problems[0].Code {
		case "NOT_FOUND": // deleted, or not shown to those who may not moderate
			p.ledger.see(id, hidden, within)
		case "CONFLICT":
		default:
			p.tb.Errorf("%s by %s: %s", field, p.name, text)
		}
		return refused, nil, within
	}
	if s := data.Payload.Comment; s != nil && field != "deleteComment" {
		p.saw(*s, within)
	}
	return success, data.Payload.Comment, within
}

// saw notes a state that an answer showed.
func (c *crowdOf) saw(s state, within span) {
	number := hidden
	if s.Status == "APPROVED" {
		number = numbersIn(s.Text)[0]
	}
	c.ledger.see(s.ID, number, within)
}

// look reads a comment.
func (p *person) look(id string) (s state, found bool) {
	p.tb.Helper()
	var data struct{ Comment *state }
	got, _, within, err := p.try(p.publishing, `query ($id: ID!) { comment(id: $id) `+stateFields+` }`, map[string]any{"id": id}, &data)
	if err != nil || len(got.Errors) > 0 {
		return s, false
	}
	if data.Comment == nil {
		p.ledger.see(id, hidden, within)
		return s, false
	}
	p.saw(*data.Comment, within)
	return *data.Comment, true
}

// ids returns the comments of a customer, all if that is empty.
func (c *crowdOf) ids(owner string) (out []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for id, of := range c.owners {
		if owner == "" || of == owner {
			out = append(out, id)
		}
	}
	slices.Sort(out)
	return out
}

// any returns a random comment.
func (p *person) any(owner string) string {
	ids := p.ids(owner)
	return ids[p.random.IntN(len(ids))]
}

// randomWords are the next words of a person.
func (p *person) randomWords(w words) words {
	c := commenttest.Random(p.random, w.product)
	w.rating, w.language = c.Rating, string(c.Language)
	return w
}

// add writes a comment over a good network: otherwise nobody would know its id.
func (p *person) add(a *api) {
	p.tb.Helper()
	healthy := &api{tb: p.tb, session: p.session, authorizer: p.authorizer, serve: a.serve, header: bearer(p.token)}
	healthy.useClient(p.session.Client)
	defer healthy.server.Close()
	w := p.randomWords(words{product: debated[p.random.IntN(len(debated))]})
	number := p.ledger.say(w)
	showing := p.ledger.showing(number)
	within := span{from: time.Now()}
	var data struct{ Payload struct{ Comment *state } }
	healthy.mustAsk(`mutation ($input: AddCommentInput!) { payload: addComment(input: $input) { comment { id text status version } } }`, map[string]any{"input": map[string]any{
		"productId": w.product, "rating": w.rating, "language": w.language, "text": textOf(number), "author": map[string]any{"id": p.name, "name": p.name},
	}}, &data)
	within.to = time.Now()
	s := *data.Payload.Comment
	p.ledger.written(number, s.ID)
	p.ledger.close(showing, success, s.Status == "APPROVED")
	p.saw(s, within)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.owners[s.ID] = p.name
}

// writes edits, takes back and deletes own comments, and writes new ones.
func (p *person) writes() {
	p.tb.Helper()
	a := []*api{p.publishing, p.holding, p.hiding}[p.random.IntN(3)]
	action := p.random.IntN(20)
	if action < 3 || len(p.ids(p.name)) == 0 {
		p.add(a)
		return
	}
	s, found := p.look(p.any(p.name))
	if !found {
		return
	}
	switch {
	case action == 3:
		if outcome, _, within := p.change(a, "deleteComment", "DeleteCommentInput", map[string]any{"id": s.ID}); outcome == success {
			p.ledger.see(s.ID, hidden, within)
		}
	case action < 7:
		p.decided(ruling{id: s.ID, by: p.name, version: s.latest(), reject: true}, a, "withdrawComment", "WithdrawCommentInput", map[string]any{"id": s.ID, "version": s.latest()})
	default:
		p.edits(a, s)
	}
}

func (p *person) edits(a *api, s state) {
	p.tb.Helper()
	w := p.randomWords(words{id: s.ID, product: p.ledger.productOf(s.ID)})
	number := p.ledger.say(w)
	showing := p.ledger.showing(number)
	outcome, after, _ := p.change(a, "editComment", "EditCommentInput", map[string]any{
		"id": s.ID, "version": s.latest(), "rating": w.rating, "language": w.language, "text": textOf(number),
	})
	if a != p.publishing && outcome == unknown {
		outcome = refused // whatever became of it, this decision does not show the comment
	}
	p.ledger.close(showing, outcome, after != nil && after.Status == "APPROVED" && after.Text == textOf(number))
	p.mu.Lock()
	defer p.mu.Unlock()
	before := fmt.Sprint(s.ID, " ", s.latest())
	if p.edited[before] && outcome == success {
		p.tb.Errorf("two edits of version %d of %s succeeded", s.latest(), s.ID)
	}
	// One that waits replaces nothing: rejected, it leaves the version to further edits.
	p.edited[before] = p.edited[before] || outcome == success && after.HeldEdit == nil
}

// decided sends a decision, and records its outcome.
func (p *person) decided(v ruling, a *api, field, inputType string, input map[string]any) {
	p.tb.Helper()
	if !v.reject {
		v.showing = p.ledger.showing(v.about)
	}
	outcome, after, within := p.change(a, field, inputType, input)
	v.outcome, v.within = outcome, within
	if !v.reject {
		p.ledger.close(v.showing, outcome, after != nil && after.Status == "APPROVED")
		if after != nil && after.Text != textOf(v.about) {
			p.tb.Errorf("%s approved %q, and what is shown is %q", p.name, textOf(v.about), after.Text)
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.verdicts = append(p.verdicts, &v)
}

// moderates decides about a comment of the queue, or about any.
func (p *person) moderates() {
	p.tb.Helper()
	s, found := p.fromQueue()
	if !found || p.random.IntN(4) == 0 {
		if s, found = p.look(p.any("")); !found {
			return
		}
	}
	v := ruling{id: s.ID, by: p.name, version: s.Version, about: numbersIn(s.Text)[0], reject: p.random.IntN(5) < 2}
	if s.HeldEdit != nil && p.random.IntN(5) > 0 {
		v.version, v.about = s.HeldEdit.Version, numbersIn(s.HeldEdit.Text)[0]
	}
	p.mu.Lock()
	v.note = fmt.Sprintf("note %d", len(p.verdicts)+1)
	p.mu.Unlock()
	v.note += " of " + p.name
	input := map[string]any{"id": v.id, "version": v.version, "note": v.note}
	if v.reject {
		input["reason"] = "SPAM"
		p.decided(v, p.publishing, "rejectComment", "RejectCommentInput", input)
		return
	}
	p.decided(v, p.publishing, "approveComment", "ApproveCommentInput", input)
}

// fromQueue returns one of the comments that wait longest. No comment is twice on a page.
func (p *person) fromQueue() (state, bool) {
	p.tb.Helper()
	var data struct {
		Moderation struct {
			Queue struct{ Nodes []struct{ Comment state } }
		}
	}
	got, text, _, err := p.try(p.publishing, `{ moderation { queue(first: 8) { nodes { comment `+stateFields+` } } } }`, nil, &data)
	if err != nil || len(got.Errors) > 0 {
		return state{}, false
	}
	nodes, ids := data.Moderation.Queue.Nodes, map[string]bool{}
	for _, node := range nodes {
		ids[node.Comment.ID] = true
	}
	if len(ids) < len(nodes) {
		p.tb.Errorf("a comment waits twice: %s", text)
	}
	if len(nodes) == 0 {
		return state{}, false
	}
	return nodes[p.random.IntN(len(nodes))].Comment, true
}

// reports reports a comment in somebody's name.
func (p *person) reports() {
	p.tb.Helper()
	id := p.any("")
	var data struct {
		Payload struct{ UserErrors []struct{ Code string } }
	}
	got, _, within, err := p.try(p.publishing, `mutation ($input: ReportCommentInput!) { payload: reportComment(input: $input) { userErrors { code } } }`, map[string]any{"input": map[string]any{"id": id, "reason": "SPAM"}}, &data)
	if err != nil || len(got.Errors) > 0 {
		return
	}
	if len(data.Payload.UserErrors) > 0 {
		p.ledger.see(id, hidden, within)
	} else if !p.ledger.anyShown(id, within) {
		p.tb.Errorf("%s was reported, and nobody could see it", id)
	}
}

// casts votes on a comment. A vote whose answer is lost may have been cast.
func (p *person) casts() {
	p.tb.Helper()
	id, vote := p.any(""), []comment.Vote{comment.Helpful, comment.Helpful, comment.NotHelpful, comment.NoVote}[p.random.IntN(4)]
	var data struct {
		Payload struct{ UserErrors []struct{ Code string } }
	}
	got, text, within, err := p.try(p.publishing, `mutation ($input: VoteOnCommentInput!) { payload: voteOnComment(input: $input) { comment `+askedFields+` userErrors { code } } }`, map[string]any{"input": map[string]any{"id": id, "vote": vote}}, &data)
	known := err == nil && len(got.Errors) == 0
	if known {
		p.public(text, within)
	}
	if len(data.Payload.UserErrors) > 0 {
		return // nobody sees the comment, or it is the customer's own
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	of := p.votes[id]
	if of == nil {
		of = map[string][]comment.Vote{}
		p.votes[id] = of
	}
	if of[p.name] == nil {
		of[p.name] = []comment.Vote{comment.NoVote}
	}
	if known {
		of[p.name] = nil
	}
	of[p.name] = append(of[p.name], vote)
}

// replies replies to a comment as a merchant, who sees what everyone sees.
func (p *person) replies() {
	p.tb.Helper()
	id := p.any("")
	var data struct {
		Reply *struct{ Reply *struct{ Version int } }
	}
	got, text, within, err := p.try(p.publishing, `query ($id: ID!) { comment(id: $id) `+askedFields+` reply: comment(id: $id) { reply { version } } }`, map[string]any{"id": id}, &data)
	if err != nil || len(got.Errors) > 0 {
		return
	}
	p.public(text, within)
	if data.Reply == nil {
		return
	}
	version := 0
	if data.Reply.Reply != nil {
		version = data.Reply.Reply.Version
	}
	_, text, within, err = p.try(p.publishing, `mutation ($input: ReplyToCommentInput!) { payload: replyToComment(input: $input) { comment `+askedFields+` userErrors { code } } }`,
		map[string]any{"input": map[string]any{"id": id, "version": version, "name": "Shop", "text": fmt.Sprintf("Thank you %d times.", version)}}, &struct{}{})
	if err == nil {
		p.public(text, within)
	}
}

// public checks an answer that anybody may read.
func (c *crowdOf) public(answer string, within span) {
	c.tb.Helper()
	if err := c.ledger.check(answer, within); err != nil {
		c.tb.Errorf("%v\n%s", err, answer)
	}
}
