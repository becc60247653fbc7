package command_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/talkback/talkback/internal/commenttest/must"
)

// BenchmarkVotes lets b.N customers vote about one comment, as quickly as 16 connections get
// answers, while another customer adds comments to another product. It reports the votes per
// second, how long after the last vote all are counted, and the longest time until another comment
// was counted. It also reports the write units of a vote, counting included. Server and engine are
// processes of their own.
//
//	go test ./command -run - -bench Votes -benchtime 20000x
func BenchmarkVotes(b *testing.B) {
	s := startVoted(b)
	viral, err := s.add("viral")
	must.Do(b, err)
	tokens := make([]string, b.N)
	for i := range tokens {
		tokens[i] = tokenOf(b, fmt.Sprint("customer", i), time.Hour)
	}
	before := s.writeUnits()
	var slowest time.Duration
	ctx, stop := context.WithCancel(b.Context())
	var others, voters errgroup.Group
	others.Go(func() (err error) { slowest, err = s.addOthers(ctx); return err })
	var next atomic.Int64
	b.ResetTimer()
	for range 16 {
		voters.Go(func() error {
			for i := int(next.Add(1)) - 1; i < b.N; i = int(next.Add(1)) - 1 {
				const vote = `mutation ($id: ID!) { voteOnComment(input: {id: $id, vote: HELPFUL}) { userErrors { code } } }`
				if err := s.ask(tokens[i], vote, map[string]any{"id": viral}, nil); err != nil {
					return err
				}
			}
			return nil
		})
	}
	must.Do(b, voters.Wait())
	took := b.Elapsed()
	for shown := 0; shown < b.N; time.Sleep(50 * time.Millisecond) {
		var answer struct {
			Comment struct{ Votes struct{ Helpful int } }
		}
		must.Do(b, s.ask("", `query ($id: ID!) { comment(id: $id) { votes { helpful } } }`, map[string]any{"id": viral}, &answer))
		shown = answer.Comment.Votes.Helpful
	}
	counted := b.Elapsed() - took
	stop()
	must.Do(b, others.Wait())
	b.ReportMetric(0, "ns/op") // votes/s has it
	b.ReportMetric(float64(b.N)/took.Seconds(), "votes/s")
	b.ReportMetric(counted.Seconds(), "s-until-counted")
	b.ReportMetric(slowest.Seconds(), "s-for-others")
	b.ReportMetric((s.writeUnits()-before)/float64(b.N), "write-units/vote")
	b.ReportMetric(float64(s.refused.Load()), "refused")
}

// voted is a server where customers with tokens vote.
type voted struct {
	b              *testing.B
	client         *http.Transport
	address, admin string
	refused        atomic.Int64 // retried requests
}

// startVoted starts a server on an engine of its own.
func startVoted(b *testing.B) *voted {
	b.Helper()
	admin := freeAddress(b)
	s := startServerWith(b, []string{"TALKBACK_JWT_KEY=" + sharedSecret}, "--admin-listen", admin, "--data", b.TempDir(), "--client-writes", "0", "--jwt-algorithm", "HS256")
	return &voted{b: b, client: &http.Transport{MaxIdleConnsPerHost: 32}, address: s.address, admin: admin}
}

// ask retries while capacity is lacking, and decodes the answer's data into a value, unless that is
// nil.
func (s *voted) ask(token, query string, variables map[string]any, into any) error {
	for {
		got, err := send(s.b.Context(), s.client, http.MethodPost, s.address+"/graphql", operation(query, variables), bearer(token))
		if err != nil {
			return err
		}
		answer := struct {
			Data   any
			Errors []struct {
				Message    string
				Extensions struct{ Code string }
			}
		}{Data: into}
		switch err := json.Unmarshal([]byte(got.body), &answer); {
		case err != nil:
			return err
		case len(answer.Errors) == 0:
			return nil
		case answer.Errors[0].Extensions.Code != "THROTTLED" && answer.Errors[0].Extensions.Code != "OVERLOADED":
			return fmt.Errorf("%s: %+v", query, answer.Errors)
		}
		s.refused.Add(1)
	}
}

// add adds a comment to a product, and returns its id.
func (s *voted) add(product string) (id string, err error) {
	var answer struct {
		AddComment struct{ Comment struct{ ID string } }
	}
	err = s.ask(tokenOf(s.b, "writer", time.Hour), `mutation ($input: AddCommentInput!) { addComment(input: $input) { comment { id } } }`, map[string]any{
		"input": map[string]any{"productId": product, "rating": 4, "language": "en", "title": "Good", "text": "It works.",
			"author": map[string]any{"id": "writer", "name": "Ada"}},
	}, &answer)
	return answer.AddComment.Comment.ID, err
}

// addOthers adds comments to another product until the context ends, and returns the longest time
// until one of them was counted.
func (s *voted) addOthers(ctx context.Context) (slowest time.Duration, err error) {
	for n := 1; ctx.Err() == nil; n++ {
		if _, err := s.add("other"); err != nil {
			return 0, err
		}
		added := time.Now()
		for total := 0; total < n; time.Sleep(20 * time.Millisecond) {
			var answer struct {
				Product struct{ Stats struct{ Total int } }
			}
			if err := s.ask("", `{ product(id: "other") { stats { total } } }`, nil, &answer); err != nil {
				return 0, err
			}
			total = answer.Product.Stats.Total
		}
		slowest = max(slowest, time.Since(added))
	}
	return slowest, nil
}

// writeUnits returns the write units that the server's calls have consumed.
func (s *voted) writeUnits() (units float64) {
	for name, of := range scrape(s.b, s.admin) {
		if strings.HasPrefix(name, "talkback_table_write_units_total{") {
			units += of
		}
	}
	return units
}
