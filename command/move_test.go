package command_test

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/talkback/talkback/auth"
	"github.com/talkback/talkback/command"
	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/call"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/dynamo/leases"
	"github.com/talkback/talkback/dynamo/restore"
	"github.com/talkback/talkback/internal/commenttest"
	"github.com/talkback/talkback/internal/commenttest/check"
	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/internal/dynamotest"
	"github.com/talkback/talkback/internal/s3test"
)

// customer writes to a service, and remembers the acknowledged writes.
type customer struct {
	t      *testing.T
	author string
	token  string
	url    *atomic.Pointer[string] // of the servers, behind a proxy
	writes *atomic.Int64           // acknowledged writes of all customers
	seeds  []comment.Comment       // which all customers vote about

	comments map[string]*acknowledged // by id
	live     []string                 // ids that are not deleted
	votes    map[string]string        // by id of a seed
}

// acknowledged is the state that a comment must have.
type acknowledged struct {
	Text    string
	Version int
	Reply   struct{ Text string }

	gone bool
}

// says sends a mutation, and returns the payload's comment, or the error's code.
func (c *customer) says(token, field string, input map[string]any) (got *struct {
	ID      string
	Version int
}, code string) {
	mutation := fmt.Sprintf(`mutation ($input: %s%sInput!) { payload: %s(input: $input) { comment { id version } userErrors { code } } }`, strings.ToUpper(field[:1]), field[1:], field)
	said, err := send(context.Background(), http.DefaultTransport, http.MethodPost, *c.url.Load()+"/graphql", operation(mutation, map[string]any{"input": input}), bearer(token))
	if err != nil {
		c.t.Error(err)
		return nil, "BROKEN"
	}
	var out struct {
		Data struct {
			Payload struct {
				Comment *struct {
					ID      string
					Version int
				}
				UserErrors []struct{ Code string }
			}
		}
		Errors []struct{ Extensions struct{ Code string } }
	}
	if err := json.Unmarshal([]byte(said.body), &out); err != nil {
		c.t.Error(err)
		return nil, "BROKEN"
	}
	switch {
	case len(out.Errors) > 0:
		return nil, out.Errors[0].Extensions.Code
	case len(out.Data.Payload.UserErrors) > 0:
		return nil, out.Data.Payload.UserErrors[0].Code
	}
	c.writes.Add(1)
	return out.Data.Payload.Comment, ""
}

// write writes until writing is refused.
func (c *customer) write() {
	for i := 0; ; i++ {
		switch code := c.step(i); code {
		case "", "THROTTLED":
		case "FORBIDDEN":
			return
		default:
			c.t.Errorf("write %d: %s", i, code)
			return
		}
	}
}

// step makes one write.
func (c *customer) step(i int) (code string) {
	text := fmt.Sprint("text ", i)
	kind := i % 6
	if len(c.live) == 0 {
		kind = 0
	}
	switch kind {
	case 0, 1:
		got, code := c.says(c.token, "addComment", map[string]any{
			"productId": "globe", "rating": 1 + i%5, "language": "en", "text": text, "author": map[string]any{"id": c.author, "name": "Ada"},
		})
		if code == "" {
			c.comments[got.ID], c.live = &acknowledged{Text: text, Version: 1}, append(c.live, got.ID)
		}
		return code
	case 2:
		id := c.live[i%len(c.live)]
		got, code := c.says(c.token, "editComment", map[string]any{"id": id, "version": c.comments[id].Version, "text": text})
		if code == "" {
			c.comments[id].Text, c.comments[id].Version = text, got.Version
		}
		return code
	case 3:
		id, vote := string(c.seeds[i%len(c.seeds)].ID), []string{"HELPFUL", "NOT_HELPFUL", "NONE"}[i%7%3]
		if _, code = c.says(c.token, "voteOnComment", map[string]any{"id": id, "vote": vote}); code == "" {
			c.votes[id] = vote
		}
		return code
	case 4:
		id := c.live[len(c.live)-1]
		if c.comments[id].Reply.Text != "" {
			return ""
		}
		if _, code = c.says(moderatorToken, "replyToComment", map[string]any{"id": id, "text": text, "name": "Shop"}); code == "" {
			c.comments[id].Reply.Text = text
		}
		return code
	}
	id := c.live[0]
	if _, code = c.says(c.token, "deleteComment", map[string]any{"id": id}); code == "" {
		c.comments[id].gone, c.live = true, c.live[1:]
	}
	return code
}

// moved is a way to copy a table.
type moved struct {
	name  string
	votes bool // whether votes of each customer are copied too
	copy  func(t *testing.T, from, to *exporter, more ...string)
}

var ways = []moved{
	{"by talkback export", false, func(t *testing.T, from, to *exporter, more ...string) {
		file := filepath.Join(t.TempDir(), "all.jsonl.gz")
		from.must("export", "--all", file)
		to.must("import", append([]string{file, "--restore", "--create-table"}, more...)...)
	}},
	{"by DynamoDB's export", true, func(t *testing.T, from, to *exporter, more ...string) {
		folder := t.TempDir()
		dynamotest.WriteExport(t, folder, "", from.table, dynamotest.Scan(t, call.NewLocalClient(from.endpoint), from.table))
		to.must("import", append([]string{folder, "--create-table"}, more...)...)
	}},
}

// A table is moved while customers write, following docs/operate/migrate.md. No acknowledged write
// is lost, and writing is refused only while the second copy is made.
func TestMoveWhileCustomersWrite(t *testing.T) {
	t.Parallel()
	for _, way := range ways {
		t.Run(way.name, func(t *testing.T) { moveWhileCustomersWrite(t, way) })
	}
}

func moveWhileCustomersWrite(t *testing.T, way moved) {
	a := guarded(t)
	guard := a.authorizer
	defer a.consume(a.session.Client)()
	seeds := commenttest.Many(commenttest.Rand(t), "seeds", 3)
	for i := range seeds {
		seeds[i].ImportedVotes, seeds[i].Votes, seeds[i].Status, seeds[i].Moderation = comment.VoteCounts{}, comment.VoteCounts{}, comment.Approved, nil
	}
	a.load(seeds...)
	var url atomic.Pointer[string]
	url.Store(&a.server.URL)
	var writes atomic.Int64
	var writing sync.WaitGroup
	customers := make([]*customer, 3)
	for i := range customers {
		author := fmt.Sprint("u", i)
		c := &customer{t: t, author: author, token: tokenOf(t, author, time.Hour), url: &url, writes: &writes, seeds: seeds, comments: map[string]*acknowledged{}, votes: map[string]string{}}
		customers[i] = c
		writing.Go(c.write)
	}
	more := func(n int64) {
		before := writes.Load()
		must.Wait(t, "customers write more", func() bool { return writes.Load() >= before+n || t.Failed() })
	}
	from := &exporter{t: t, endpoint: a.session.Address, table: a.session.Table}
	to := &exporter{t: t, endpoint: from.endpoint, table: dynamotest.TableName(t)}
	more(60)
	way.copy(t, from, to)
	more(60)

	began := time.Now()
	a.authorizer = auth.Closed{} // the servers are restarted without tokens
	a.useClient(a.session.Client)
	url.Store(&a.server.URL)
	writing.Wait()
	from.must("verify")
	way.copy(t, from, to, "--replace")
	b := &api{tb: t, session: &command.Session{Client: a.session.Client, Table: to.table, Address: from.endpoint}, authorizer: guard}
	b.useClient(b.session.Client)
	t.Logf("%d writes were acknowledged; writing was refused for %v", writes.Load(), time.Since(began))

	to.must("verify")
	b.checkAcknowledged(customers, way.votes)
	if way.votes {
		check.Equal(t, restorable(t, a.session.Client, from.table), restorable(t, a.session.Client, to.table))
	}
	url.Store(&b.server.URL)
	if code := customers[0].step(0); code != "" {
		t.Errorf("a write after the move: %s", code)
	}
}

// checkAcknowledged checks that all acknowledged writes of customers are there, and nothing else.
func (a *api) checkAcknowledged(customers []*customer, voters bool) {
	a.tb.Helper()
	total, votes := 0, map[string][2]int{}
	for _, c := range customers {
		a.header = bearer(c.token)
		for id, want := range c.comments {
			var got struct{ Node *acknowledged }
			a.mustAsk(`query ($id: ID!) { node(id: $id) { ... on Comment { text version reply { text } } } }`, map[string]any{"id": id}, &got)
			switch {
			case want.gone && got.Node != nil:
				a.tb.Errorf("deleted comment %s is back", id)
			case !want.gone && (got.Node == nil || *got.Node != *want):
				a.tb.Errorf("comment %s is %+v, want %+v", id, got.Node, *want)
			case !want.gone:
				total++
			}
		}
		for id, vote := range c.votes {
			got := a.said(`query ($id: ID!) { node(id: $id) { ... on Comment { votes { viewerVote } } } }`, map[string]any{"id": id})
			if want := fmt.Sprintf(`{"node":{"votes":{"viewerVote":%q}}}`, vote); voters && got != want {
				a.tb.Errorf("the vote about %s is %s, want %s", id, got, want)
			}
			n := votes[id]
			switch vote {
			case "HELPFUL":
				n[0]++
			case "NOT_HELPFUL":
				n[1]++
			}
			votes[id] = n
		}
	}
	for id, want := range votes {
		got := a.said(`query ($id: ID!) { node(id: $id) { ... on Comment { votes { helpful notHelpful } } } }`, map[string]any{"id": id})
		if want := fmt.Sprintf(`{"node":{"votes":{"helpful":%d,"notHelpful":%d}}}`, want[0], want[1]); got != want {
			a.tb.Errorf("the votes about %s are %s, want %s", id, got, want)
		}
	}
	if got := a.said(`{ product(id: "globe") { stats { total } } }`, nil); got != fmt.Sprintf(`{"product":{"stats":{"total":%d}}}`, total) {
		a.tb.Errorf("the count is %s, want %d", got, total)
	}
}

// restorable returns the items of a table that a restore brings back, by key.
func restorable(t *testing.T, client *dynamodb.Client, table string) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, it := range dynamotest.Scan(t, client, table) {
		if kind := restore.KindOf(it); kind == restore.Comment || kind == restore.Beside {
			delete(it, "changes") // how often the total of its votes was written is the table's own
			text := must.Get(json.Marshal(dynamotest.JSON(it)))(t)
			r := layout.NewReader(it)
			out[r.Text(layout.AttrPK)+"/"+r.Text(layout.AttrSK)] = string(text)
		}
	}
	return out
}

// A restore that is killed goes on when it is run again, and overwrites nothing. With --replace it
// makes the table equal to the export. A damaged export changes nothing.
func TestTableIsRestored(t *testing.T) {
	t.Parallel()
	endpoint := dynamotest.Dynoxide(t)
	client := call.NewLocalClient(endpoint)
	from, to := newExporter(t, endpoint), newExporter(t, endpoint)
	comments := commenttest.Many(commenttest.Rand(t), "cup", 120)
	for i := range comments {
		comments[i].ImportedVotes, comments[i].Votes = comment.VoteCounts{}, comment.VoteCounts{}
		if i < 50 {
			comments[i].Votes.Helpful = 1 // the vote below
		}
	}
	from.fill(comments)
	for i, c := range comments[:50] {
		put(t, client, from.table, layout.VoteItem(c.ID, fmt.Sprintf("%02x", i), comment.CastVote{By: fmt.Sprint("u", i), Vote: comment.Helpful, At: c.CreatedAt()}))
	}
	put(t, client, from.table, layout.Tombstone("c_01HZ0000000000000000000000", "mark", time.Now()))
	from.must("rebuild")
	from.must("verify")
	local := dynamotest.WriteExport(t, t.TempDir(), "", from.table, dynamotest.Scan(t, client, from.table))

	for _, pass := range []int32{0, 60} {
		kill(t, to, "PutItem", pass, "import", local, "--calls", "1", "--no-count")
	}
	if there := len(restorable(t, client, to.table)); there == 0 || there >= 171 {
		t.Errorf("after two restores that were killed, %d items are there", there)
	}
	to.must("import", local)
	want := restorable(t, client, from.table)
	check.Equal(t, want, restorable(t, client, to.table))
	to.must("verify")

	edited := comments[7]
	edited.Text, edited.Version = "Edited since.", edited.Version+1
	put(t, client, to.table, layout.Encode(edited))
	put(t, client, to.table, layout.Encode(commenttest.Many(commenttest.Rand(t), "pot", 1)[0]))
	put(t, client, to.table, layout.VoteItem(comments[60].ID, "ff", comment.CastVote{By: "late", Vote: comment.Helpful, At: time.Now()}))
	before := restorable(t, client, to.table)
	to.must("import", local)
	if after := restorable(t, client, to.table); len(after) != len(before) || !strings.Contains(fmt.Sprint(after), "Edited since.") {
		t.Error("a restore without --replace changed what was there")
	}
	to.must("import", local, "--replace")
	after := restorable(t, client, to.table)
	for key, item := range after {
		if want[key] == "" && !strings.Contains(item, `"e":`) {
			t.Errorf("%s is there, which the export lacks", key)
		}
	}
	for key, item := range want {
		if after[key] != item {
			t.Errorf("%s is %s, want %s", key, after[key], item)
		}
	}
	to.must("verify")
	other := newExporter(t, endpoint)
	put(t, client, other.table, importItem("N#ours.csv"))
	mixed := append(dynamotest.Scan(t, client, from.table), importItem("N#theirs.csv"))
	status, _, said := other.run(t.Context(), "import", dynamotest.WriteExport(t, t.TempDir(), "", from.table, mixed))
	if there := len(restorable(t, client, other.table)); status != 1 || !strings.Contains(said, "ours.csv") || there != 1 {
		t.Errorf("beside an import of its own, the restore ended with %d and %d items: %s", status, there, said)
	}
}

// importItem returns the item of an import, the first one of its table.
func importItem(sort string) layout.Item {
	it := layout.Key("IMPORTS", sort)
	it["n"], it["b"] = layout.Number(1), layout.Time(time.Now())
	return it
}

// An export that is not complete deletes nothing. What was erased stays erased, and data that no
// line has stays.
func TestReplaceKeeps(t *testing.T) {
	t.Parallel()
	endpoint := dynamotest.Dynoxide(t)
	client := call.NewLocalClient(endpoint)
	e := newExporter(t, endpoint)
	comments := commenttest.Many(commenttest.Rand(t), "cup", 12)
	voted, unreplied := &comments[1], &comments[2]
	voted.ImportedVotes, voted.Votes = comment.VoteCounts{NotHelpful: 3}, comment.VoteCounts{Helpful: 1, NotHelpful: 3} // the vote below
	unreplied.Reply, unreplied.ReplyDeletion = nil, 2
	e.fill(comments)
	put(t, client, e.table, layout.VoteItem(voted.ID, "0f", comment.CastVote{By: "u1", Vote: comment.Helpful, At: voted.CreatedAt()}))
	marked := layout.Encode(comments[0])
	marked[layout.AttrImport], marked[layout.AttrKeyHash] = layout.Text("7:1:0:"), layout.Binary([]byte("hash"))
	put(t, client, e.table, marked)
	folder := t.TempDir()
	none, damaged := filepath.Join(folder, "none.jsonl"), filepath.Join(folder, "damaged.jsonl")
	for file, text := range map[string]string{none: "", damaged: "{}\n"} {
		writeFile(t, file, text)
	}
	older := dynamotest.WriteExport(t, filepath.Join(folder, "older"), "", e.table, dynamotest.Scan(t, client, e.table))
	mark := layout.Key("ERASED", "digest")
	mark["un"] = layout.Time(time.Now())
	put(t, client, e.table, mark)
	before := restorable(t, client, e.table)
	for says, arguments := range map[string][]string{
		"talkback: nothing was deleted: the copy has no comments, and --replace would delete all of the table: check whether it is the right one; for an empty table, make a new one 0 rows": {none, "--restore"},
		"talkback: nothing was deleted: the rejected rows may hold comments of the table; correct the file, and run it again 1 row":                                                          {damaged, "--restore"},
		"nothing was restored: the copy has no comments":   {dynamotest.WriteExport(t, filepath.Join(folder, "empty"), "", e.table, nil)},
		"public.jsonl: written by an export without --all": {filepath.Join(folder, "public.jsonl"), "--restore"},
		"one.jsonl: written by an export without --all":    {filepath.Join(folder, "one.jsonl"), "--restore"},
		"": {filepath.Join(folder, "all.jsonl"), "--restore"},
	} {
		switch filepath.Base(arguments[0]) {
		case "public.jsonl":
			e.must("export", arguments[0])
		case "one.jsonl":
			e.must("export", "--all", "--product", "cup", arguments[0])
		case "all.jsonl":
			e.must("export", "--all", arguments[0])
		}
		status, _, said := e.run(t.Context(), "import", append(arguments, "--replace", "--no-count")...)
		if (status == 0) != (says == "") || !strings.Contains(strings.Join(strings.Fields(said), " "), says) {
			t.Errorf("%v: status %d, %s; want %q", arguments, status, said, says)
		}
		check.Equal(t, before, restorable(t, client, e.table), arguments)
	}
	e.must("import", older, "--replace", "--no-count")
	check.Equal(t, before, restorable(t, client, e.table))
}

// An erased customer does not match the imported author with the same id in a copy of a table,
// where that author was not erased. What was decided about the comments since the first copy, and
// who voted, is in the second one.
func TestImportedAuthorBesideAnErasedCustomer(t *testing.T) {
	t.Parallel()
	endpoint := dynamotest.Dynoxide(t)
	client := call.NewLocalClient(endpoint)
	from, to := newExporter(t, endpoint), newExporter(t, endpoint)
	c := commenttest.Many(commenttest.Rand(t), "cup", 1)[0]
	c.Author, c.Status, c.Moderation = comment.Author{ID: "42", Name: "Ada", Imported: true}, comment.Approved, nil
	from.fill([]comment.Comment{c})
	mark := layout.Key("ERASED", hex.EncodeToString(layout.HashOf("erased", false, "42")))
	mark["un"] = layout.Time(time.Now())
	put(t, client, from.table, mark)
	copied := func(more ...string) {
		t.Helper()
		folder := dynamotest.WriteExport(t, t.TempDir(), "", from.table, dynamotest.Scan(t, client, from.table))
		to.must("import", append([]string{folder, "--no-count"}, more...)...)
		check.Equal(t, restorable(t, client, from.table), restorable(t, client, to.table))
	}
	copied()
	c.Status, c.Moderation = comment.Rejected, &comment.Moderation{Reason: new(comment.Spam)}
	put(t, client, from.table, layout.Encode(c))
	put(t, client, from.table, layout.VoteItem(c.ID, "0f", comment.CastVote{By: "u1", Vote: comment.Helpful, At: time.Now()}))
	copied("--replace")
	c.Text = "Corrected."
	put(t, client, from.table, layout.Encode(c))
	c.ID = commenttest.Many(commenttest.Rand(t), "cup", 2)[1].ID
	put(t, client, from.table, layout.Encode(c))
	file := filepath.Join(t.TempDir(), "all.jsonl")
	from.must("export", "--all", file)
	to.must("import", file, "--restore", "--no-count")
	if got := restorable(t, client, to.table); len(got) != len(restorable(t, client, from.table)) {
		t.Errorf("a comment is left out: %v", got)
	}
	to.must("import", file, "--restore", "--replace", "--no-count")
	check.Equal(t, restorable(t, client, from.table), restorable(t, client, to.table))
}

// A restore works from a bucket as from a folder, also where the variables of servers are set. A
// dry run needs no table.
func TestTableIsRestoredFromABucket(t *testing.T) {
	t.Setenv("TALKBACK_MEDIA_BASE", "https://media.shop.example/reviews/")
	server := s3test.Start(t)
	server.Environment(t)
	endpoint := dynamotest.Dynoxide(t)
	from, i := newExporter(t, endpoint), newImporter(t, endpoint)
	from.fill(commenttest.Many(commenttest.Rand(t), "cup", 3))
	client := call.NewLocalClient(endpoint)
	dir := dynamotest.WriteExport(t, server.Path(""), "backup", from.table, dynamotest.Scan(t, client, from.table))
	found := "Table " + from.table + " as it was at 2026-11-04T07:28:34Z: 3 comments, 0 deleted ones, 0 votes, reports and other items; 0 items are counted anew\n"
	for _, row := range []struct {
		status    int
		out, said string
		arguments []string
	}{
		{0, found, "", []string{"--dry-run"}},
		{0, found + "3 items written + 0 already there, in", "", nil},
		{0, found + "0 items written + 3 already there, in", "", []string{"--restore"}},
		{2, "", "an export of DynamoDB is restored as it is: leave out --name", []string{"--name", "x"}},
		{2, "", "leave out --name, --format, --media-base", []string{"--media-base", "https://media.shop.example/"}},
		{2, "", "leave out --from, --map", []string{"--language", "en"}},
		{2, "", "leave out --revive", []string{"--replace", "--revive"}},
	} {
		status, out, said := i.run(t.Context(), append([]string{"s3://pages/backup"}, row.arguments...)...)
		if status != row.status || !strings.HasPrefix(strings.Join(strings.Fields(out), " "), strings.TrimSpace(strings.ReplaceAll(row.out, "\n", " "))) || !strings.Contains(said, row.said) {
			t.Errorf("%v: status %d\n%s%s", row.arguments, status, out, said)
		}
	}
	must.Do(t, os.Remove(filepath.Join(dir, "data", "file1.json.gz")))
	empty := newImporter(t, endpoint)
	if status, _, said := empty.run(t.Context(), "s3://pages/backup"); status != 1 || !strings.Contains(said, "nothing was restored: data/file1.json.gz is missing from s3://pages/backup") {
		t.Errorf("status %d, %s", status, said)
	}
}

// damage sets an attribute of an item, as someone would by hand.
func damage(t *testing.T, client *dynamodb.Client, table string, key layout.Item, attribute string, value types.AttributeValue) {
	t.Helper()
	must.Get(client.UpdateItem(t.Context(), &dynamodb.UpdateItemInput{
		TableName: &table, Key: key, UpdateExpression: aws.String("SET #a = :v"),
		ExpressionAttributeNames: map[string]string{"#a": attribute}, ExpressionAttributeValues: layout.Item{":v": value},
	}))(t)
}

// put writes an item as another program would.
func put(t *testing.T, client *dynamodb.Client, table string, it layout.Item) {
	t.Helper()
	must.Get(client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: &table, Item: it}))(t)
}

// restored returns a line of an export with a version of a comment.
func restored(version int) string {
	return fmt.Sprintf(`{"talkback":1,"id":"c_01HZ0000000000000000000000","product":"teapot","rating":5,"language":"en","title":null,"text":"Old.","author":"u1","authorName":"Ada","createdAt":"2024-05-28T16:19:36.576Z","updatedAt":null,"version":%d}`, version)
}

// A file writes as a customer only if it is imported with --restore, and then only what could have
// been exported.
func TestRestoreIsAskedForByName(t *testing.T) {
	t.Parallel()
	i := newImporter(t, dynamotest.Dynoxide(t))
	file := write(t, "reviews.jsonl", restored(1))
	if status, _, said := i.run(t.Context(), file); status == 0 || !strings.Contains(said, "--restore") {
		t.Errorf("without the flag: status %d, %s", status, said)
	}
	for _, flag := range []string{"--authors-are-customers", "--language=en", "--language-of=x=en", "--map=text=title"} {
		if status, _, said := i.run(t.Context(), file, "--restore", flag); status != 2 || !strings.Contains(said, "leave out --from, --map") {
			t.Errorf("with %s: status %d, %s", flag, status, said)
		}
	}
	if status, _, said := i.run(t.Context(), write(t, "reviews.csv", fewReviews), "--restore", "--dry-run"); status != 1 || !strings.Contains(said, "without --restore") {
		t.Errorf("another file: status %d, %s", status, said)
	}
	damaged := write(t, "damaged.jsonl", strings.Replace(restored(1), `"rating":5`, `"rating":6`, 1))
	for _, flags := range [][]string{nil, {"--max-rejects", "0"}} {
		status, _, said := i.run(t.Context(), append([]string{damaged, "--restore", "--force"}, flags...)...)
		if status != 1 || strings.Contains(said, "--map") || !strings.Contains(strings.ToLower(said), "correct the file, or export it again") {
			t.Errorf("all rows rejected: status %d, %s", status, said)
		}
	}
	i.want(summary(1, 1, 0, 0, 0), file, "--restore")
}

// A comment with the highest possible version can be deleted but not edited.
func TestLastVersion(t *testing.T) {
	t.Parallel()
	endpoint := dynamotest.Dynoxide(t)
	i, a := newImporter(t, endpoint), newAPI(t, endpoint)
	i.table = a.session.Table
	i.want(summary(1, 1, 0, 0, 0), write(t, "export.jsonl", restored(2147483647)), "--restore")
	const id = "c_01HZ0000000000000000000000"
	if got := a.edit(map[string]any{"id": id, "version": 2147483647, "rating": 1}); got.codes() != "OUT_OF_RANGE version" {
		t.Errorf("an edit: %+v", got)
	}
	if got := a.remove(map[string]any{"id": id, "version": 2147483647}); got.codes() != "" || got.Comment.Version != 2147483647 {
		t.Errorf("a delete: %+v", got)
	}
}

// A moderator can delete an item that is no proper comment, and it is no longer counted. No
// customer can delete it, since its author is unknown.
func TestImproperCommentsAreDeleted(t *testing.T) {
	t.Parallel()
	for attribute, value := range map[string]string{layout.AttrVersion: "2147483648", layout.AttrRating: "9"} {
		t.Run(attribute, func(t *testing.T) {
			a := guarded(t)
			a.watermark = leases.NewLeases(a.session.Client, a.session.Table)
			a.useClient(a.session.Client)
			defer a.consume(a.session.Client)()
			a.header = bearer(tokenOf(t, "u1", time.Hour))
			id := a.add(draft()).Comment.ID
			kept := a.add(draft()).Comment.ID
			a.drained(time.Now())
			damage(t, a.session.Client, a.session.Table, layout.CommentKey(comment.ID(id)), attribute, &types.AttributeValueMemberN{Value: value})
			const remove = `mutation ($input: DeleteCommentInput!) { deleteComment(input: $input) { comment { id } userErrors { code } } }`
			input := map[string]any{"input": map[string]any{"id": id}}
			if got := a.ask(remove, input); len(got.Errors) != 1 || got.Errors[0].Extensions["code"] != "INTERNAL" {
				t.Errorf("by a customer: %s %+v", got.Data, got.Errors)
			}
			a.header = bearer(moderatorToken)
			if got := a.ask(remove, map[string]any{"input": map[string]any{"id": id, "version": 1}}); len(got.Errors) != 1 {
				t.Errorf("with a version: %s %+v", got.Data, got.Errors)
			}
			if got := a.ask(remove, input); len(got.Errors) > 0 || string(got.Data) != `{"deleteComment":{"comment":null,"userErrors":[]}}` {
				t.Errorf("by a moderator: %s %+v", got.Data, got.Errors)
			}
			if got := a.ask(remove, input); string(got.Data) != `{"deleteComment":{"comment":null,"userErrors":[{"code":"NOT_FOUND"}]}}` {
				t.Errorf("again: %s %+v", got.Data, got.Errors)
			}
			if attribute == layout.AttrRating {
				return // the edit by hand could not be counted, so all counts wait for a rebuild
			}
			a.drained(time.Now())
			got := a.ask(`{ product(id: "teapot") { comments(first: 9) { totalCount nodes { id } } } }`, nil)
			if want := `{"product":{"comments":{"totalCount":1,"nodes":[{"id":"` + kept + `"}]}}}`; string(got.Data) != want {
				t.Errorf("counted: %s %+v", got.Data, got.Errors)
			}
		})
	}
}
