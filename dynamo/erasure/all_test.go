package erasure_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/talkback/talkback/auth"
	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo"
	"github.com/talkback/talkback/dynamo/counts"
	"github.com/talkback/talkback/dynamo/erasure"
	"github.com/talkback/talkback/dynamo/leases"
	"github.com/talkback/talkback/dynamo/outbox"
	"github.com/talkback/talkback/internal/commenttest"
	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/internal/faulttest"
	"github.com/talkback/talkback/internal/importer"
	"github.com/talkback/talkback/moderation"
	pageindex "github.com/talkback/talkback/pageindex/table"
	"github.com/talkback/talkback/stream"
)

// postman delivers some writes up to three seconds after their senders have given up.
type postman struct {
	under dynamodb.HTTPClient
	late  *sync.WaitGroup

	mu sync.Mutex
	r  *rand.Rand
}

// Do implements dynamodb.HTTPClient.
func (p *postman) Do(request *http.Request) (*http.Response, error) {
	p.mu.Lock()
	late, wait := p.r.IntN(12) == 0, time.Duration(p.r.IntN(3000))*time.Millisecond
	p.mu.Unlock()
	target := request.Header.Get("X-Amz-Target")
	isWrite := func(name string) bool { return strings.HasSuffix(target, name) }
	if !late || !slices.ContainsFunc([]string{".PutItem", ".UpdateItem", ".DeleteItem", ".BatchWriteItem", ".TransactWriteItems"}, isWrite) {
		return p.under.Do(request)
	}
	body, err := io.ReadAll(request.Body)
	if err != nil {
		return nil, err
	}
	p.late.Go(func() {
		time.Sleep(wait)
		again := request.Clone(context.Background())
		again.Body, again.GetBody = io.NopCloser(bytes.NewReader(body)), nil
		if response, err := p.under.Do(again); err == nil {
			_ = response.Body.Close() // nobody waits for the answer
		}
	})
	return nil, &url.Error{Op: "Post", URL: request.URL.String(), Err: os.ErrDeadlineExceeded}
}

// as is who sends requests.
type as comment.Viewer

// Identify implements auth.Authorizer.
func (a as) Identify(context.Context) (comment.Viewer, error) { return comment.Viewer(a), nil }

// crowd is everyone who changes a table.
type crowd struct {
	*table
	networks []*faulttest.Network
	late     sync.WaitGroup
	busy     sync.WaitGroup

	mu   sync.Mutex // guards what follows
	ids  []comment.ID
	from map[string][]comment.ID // by author
}

// client returns a client over a bad network. Nobody acts yet.
func (c *crowd) client() *dynamodb.Client {
	own := rand.New(rand.NewPCG(c.r.Uint64(), 7))
	slow := dynamodb.New(c.table.client.Options(), func(o *dynamodb.Options) {
		o.HTTPClient = &postman{under: o.HTTPClient, late: &c.late, r: own}
	})
	client, network := faulttest.Under(slow, faulttest.OneIn(c.r, 8))
	c.networks = append(c.networks, network)
	return client
}

// service returns a server of a caller, whose rules hold all comments or none.
func (c *crowd) service(who string, roles comment.Roles, holds bool) *auth.Service {
	s := &auth.Service{
		Store:      dynamo.NewStore(c.client(), c.name, dynamo.Options{KeepAudit: time.Hour}),
		Authorizer: as{CustomerID: &who, Roles: roles}, ShopName: "Shop", Threshold: 2, HideEdits: c.r.IntN(2) == 0,
	}
	if holds {
		s.Policy = must.Get(moderation.Open("hold", ""))(c.t)
	}
	return s
}

// acts calls do many times, beside all others.
func (c *crowd) acts(times int, do func(r *rand.Rand, n int)) {
	own := rand.New(rand.NewPCG(c.r.Uint64(), 9))
	c.busy.Go(func() {
		for n := range times {
			do(own, n)
		}
	})
}

func (c *crowd) any(r *rand.Rand) comment.ID {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.ids[r.IntN(len(c.ids))]
}

// expect reports an error that names no trouble of the network.
func (c *crowd) expect(what string, err error) {
	if err != nil && comment.KindOf(err) == comment.Internal {
		c.t.Errorf("%s: %v", what, err)
	}
}

// writes has an author add, edit, take back and delete comments, report others and vote about them.
func (c *crowd) writes(author comment.Author, times int) {
	servers := []*auth.Service{c.service(author.ID, 0, false), c.service(author.ID, 0, true)}
	good := &auth.Service{Store: c.store, Authorizer: servers[0].Authorizer}
	c.acts(times, func(r *rand.Rand, n int) {
		s, id, key := servers[r.IntN(2)], string(c.any(r)), fmt.Sprint(author.ID, n)
		c.mu.Lock()
		if of := c.from[author.ID]; len(of) > 0 && r.IntN(2) == 0 {
			id = string(of[r.IntN(len(of))])
		}
		c.mu.Unlock()
		now, err := c.store.Comment(c.t.Context(), comment.ID(id))
		action, version := r.IntN(10), now.WithHeldEdit().Version
		switch {
		case n < 5 || action == 0:
			draft := comment.Draft{ProductID: products[r.IntN(2)], Rating: 1 + r.IntN(5), Language: "en", Text: key, Author: author}
			added, _, err := s.Add(c.t.Context(), draft, &key)
			if err != nil { // otherwise nobody knows its id
				added = must.Get(first(good.Add(c.t.Context(), draft, &key)))(c.t)
			}
			c.mu.Lock()
			defer c.mu.Unlock()
			c.ids, c.from[author.ID] = append(c.ids, added.ID), append(c.from[author.ID], added.ID)
		case err != nil: // deleted
		case action == 1:
			_, _, err = s.Delete(c.t.Context(), id, nil)
		case action == 2:
			_, _, err = s.Withdraw(c.t.Context(), id, version)
		case action < 6:
			rating := 1 + r.IntN(5)
			_, _, err = s.Edit(c.t.Context(), id, version, comment.Change{Rating: &rating, Text: &key})
		case action == 6:
			_, err = s.Report(c.t.Context(), comment.ReportDraft{CommentID: id, Reason: "SPAM"})
		default:
			_, _, err = s.Vote(c.t.Context(), id, []comment.Vote{comment.Helpful, comment.NotHelpful, comment.NoVote}[r.IntN(3)])
		}
		c.expect("an author", err)
	})
}

// first returns a comment, with an error for problems of its draft.
func first(added comment.Comment, problems []comment.Problem, err error) (comment.Comment, error) {
	if err == nil && len(problems) > 0 {
		err = fmt.Errorf("%v", problems)
	}
	return added, err
}

// moderates has a moderator of the shop decide and reply.
func (c *crowd) moderates(who string, times int) {
	s, spam := c.service(who, comment.Moderator|comment.Merchant, false), comment.Spam
	c.acts(times, func(r *rand.Rand, n int) {
		now, err := c.store.Comment(c.t.Context(), c.any(r))
		if err != nil {
			return
		}
		v := comment.Verdict{ID: string(now.ID), Version: []int{now.Version, now.WithHeldEdit().Version}[r.IntN(2)]}
		switch r.IntN(5) {
		case 0:
			version := 0
			if now.Reply != nil {
				version = now.Reply.Version
			}
			_, _, err = s.Reply(c.t.Context(), comment.ReplyDraft{CommentID: v.ID, Text: fmt.Sprint("Thanks ", n), Version: version})
		case 1, 2:
			v.Reason = &spam
			fallthrough
		default:
			_, _, err = s.Decide(c.t.Context(), v)
		}
		c.expect("a moderator", err)
	})
}

// imports has an operator import a file, whose ratings change, and take it back.
func (c *crowd) imports(name string, times int) {
	var file []comment.Comment
	for range 30 {
		row := c.comment([]comment.Author{ida, {ID: "other", Name: "Other", Imported: true}}[c.r.IntN(2)])
		row.ProductID = products[c.r.IntN(2)]
		file, c.ids = append(file, row), append(c.ids, row.ID)
	}
	client := c.client()
	registry := importer.NewRegistry(client, c.name)
	c.acts(times, func(r *rand.Rand, n int) {
		if n > 0 && r.IntN(3) == 0 {
			_, err := registry.Undo(c.t.Context(), name, func(importer.Undone) {})
			c.expect("an import is taken back", err)
			return
		}
		begun, err := registry.Begin(c.t.Context(), name)
		if err != nil {
			return
		}
		loader := dynamo.NewLoader(client, c.name, 2)
		loader.Marks, loader.Import, loader.Revive = erasure.HastenMarks(erasure.NewMarks(client, c.name)), begun.Number, r.IntN(3) == 0
		if r.IntN(2) == 0 {
			loader.Update = func(before, row comment.Comment) comment.Comment { before.Rating = row.Rating; return before }
		}
		for i := range file {
			file[i].Rating = 1 + r.IntN(5)
		}
		did, err := loader.Load(c.t.Context(), file)
		c.expect("an import", err)
		_ = registry.End(c.t.Context(), begun, did.Written, did.Updated)
	})
}

// erases has authors erased.
func (c *crowd) erases(author comment.Author, times int) {
	client := c.client()
	c.acts(times, func(r *rand.Rand, _ int) {
		e := erasure.AwaitMarks(erasure.New(client, c.name, "a server", fmt.Sprint(r.Uint64())))
		_, err := e.Start(c.t.Context(), author)
		c.expect("the request for an erasure", err)
		_, err = e.Run(c.t.Context(), author, none)
		c.expect("an erasure", err)
	})
}

// counts counts until end is called, and hands over some records again.
func (c *crowd) counts() (shared *leases.Leases, end func()) {
	must.Do(c.t, outbox.New(c.table.client, c.name).Want(c.t.Context(), "hooks", 0))
	counter := counts.NewCounter(c.client(), c.name, counts.CounterOptions{Pages: pageindex.New(c.client(), c.name), Logger: slog.New(slog.DiscardHandler)})
	handle, r := outbox.New(c.client(), c.name).After(counter.Handle), rand.New(rand.NewPCG(c.r.Uint64(), 5))
	var earlier []stream.Record
	shared = leases.NewLeases(c.table.client, c.name)
	consumer := &stream.Consumer{
		Source: stream.NewSource(stream.NewClient(c.table.client), c.table.client, c.name), Leases: shared, Journal: shared,
		Logger: slog.New(slog.DiscardHandler), Poll: 5 * time.Millisecond, Heartbeat: 20 * time.Millisecond, Expiry: 100 * time.Millisecond,
		Handler: func(ctx context.Context, records []stream.Record) error {
			if n := len(earlier); n > 0 && r.IntN(3) == 0 {
				from := r.IntN(n)
				_ = handle(ctx, earlier[from:min(n, from+20)]) // by a process that lost its shard
			}
			earlier = append(earlier, records...)
			return handle(ctx, records)
		},
	}
	ctx, stop := context.WithCancel(c.t.Context())
	var counting sync.WaitGroup
	counting.Go(func() { c.expect("counting", consumer.Run(ctx)) })
	return shared, func() { stop(); counting.Wait() }
}

var products = []string{"p", "q"}

// Authors, moderators, a shop, voters, imports and erasures change the same comments at once, over
// networks that lose answers and deliver writes seconds late. In the end, counts, leaderboards,
// page numbers, the queue and votes fit to the comments, and nothing is left of those who were
// erased.
func TestAllAtOnce(t *testing.T) {
	c := &crowd{table: newTable(t), from: map[string][]comment.ID{}}
	shared, end := c.counts()
	defer end()
	c.imports("a", 6)
	c.imports("b", 6)
	times := commenttest.Times(60, 600)
	for _, author := range []comment.Author{ada, {ID: "bo", Name: "Bo"}, {ID: "cy", Name: "Cy"}} {
		c.writes(author, times)
	}
	c.moderates("m1", times)
	c.moderates("m2", times)
	c.erases(ada, 3)
	c.erases(ida, 3)
	c.busy.Wait()
	for _, network := range c.networks {
		must.Do(t, network.Flush())
	}
	c.late.Wait()
	for _, author := range []comment.Author{ada, ida} {
		must.Get(c.eraser(c.table.client).Run(t.Context(), author, none))(t)
		for _, key := range c.traces(author) {
			if !strings.Contains(key, "/D#") { // a decision about a comment that was deleted before
				t.Errorf("left of %s: %v", author.Name, key)
			}
		}
	}
	for before, until := time.Now(), time.Now().Add(2*time.Minute); ; time.Sleep(10 * time.Millisecond) {
		_, all, err := shared.Current(t.Context())
		if upTo, known := stream.ProcessedUpTo(all); err == nil && known && !upTo.Before(before) {
			break
		}
		if time.Now().After(until) {
			t.Fatal("not all is counted")
		}
	}
	end()
	c.late.Wait()
	found := must.Get(counts.NewVerifier(c.table.client, c.name, counts.VerifyOptions{Pages: pageindex.New(c.table.client, c.name)}).Run(t.Context(), func(int) {}))(t)
	for _, drift := range found.Drifts {
		t.Error(drift)
	}
	if len(found.Improper) > 0 || found.Comments == 0 {
		t.Errorf("of %d comments, these are improper: %v", found.Comments, found.Improper)
	}
}
