package endtoend

import (
	"bytes"
	"encoding/json"
	"fmt"
	"iter"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo"
	"github.com/talkback/talkback/dynamo/call"
	"github.com/talkback/talkback/internal/commenttest"
	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/internal/dynamotest"
	"github.com/talkback/talkback/internal/servertest/programtest"
	"github.com/talkback/talkback/web"
)

func TestMain(m *testing.M) { dynamotest.Main(m) }

// patience bounds every wait for a condition. Only a failing test uses it up.
const patience = 2 * time.Minute

// site is a server with its own table, and two others in front of it.
type site struct {
	// address is that of the program itself.
	address string
	token   string // of the test's own requests; none if empty
	// troubled is the address of the same pages, whose requests to the API pass what troubles says.
	troubled string
	troubles atomic.Pointer[trouble]
	// shop is a server of another origin, whose pages may call the API.
	shop *httptest.Server
}

// trouble answers a request to the API in place of the program, or passes it on to the program.
type trouble func(w http.ResponseWriter, r *http.Request, program http.Handler)

// openSite starts the program and puts comments into its table. It returns when they are counted.
func openSite(t *testing.T, comments iter.Seq[comment.Comment]) *site {
	t.Helper()
	s := &site{shop: httptest.NewServer(nil)}
	t.Cleanup(s.shop.Close)
	s.shop.Config.Handler = http.HandlerFunc(s.shopPage)
	endpoint, table := dynamotest.Dynoxide(t), dynamotest.TableName(t)
	client := call.NewLocalClient(endpoint)
	must.Do(t, dynamo.CreateTable(t.Context(), client, table))
	must.Get(dynamo.NewLoader(client, table, 0).Load(t.Context(), slices.Collect(comments)))(t)
	s.address = serve(t, "--endpoint", endpoint, "--table", table, "--cors-origin", s.shop.URL, "--show-plans")
	s.openTroubled(t)
	want := map[string]int{}
	for c := range comments {
		want[c.ProductID]++
	}
	for product, count := range want {
		s.counted(t, product, count)
	}
	return s
}

// serve runs the program until the test ends, and returns its address.
func serve(t *testing.T, arguments ...string) string {
	t.Helper()
	// A browser keeps its connections, for whose next requests a server that stops would wait a
	// second.
	address, _ := programtest.Serve(t, &commenttest.Transcript{}, append([]string{"serve", "--listen", "127.0.0.1:0", "--drain-timeout", "100ms"}, arguments...)...)
	return "http://" + address
}

// openTroubled serves the same pages with an API that tests can disturb, for the pages and for
// browsers alike.
func (s *site) openTroubled(t *testing.T) {
	t.Helper()
	target := must.Get(url.Parse(s.address))(t)
	quiet := slog.NewLogLogger(slog.DiscardHandler, slog.LevelError) // the tests cut connections
	program := &httputil.ReverseProxy{ErrorLog: quiet, Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(target)
		r.Out.Host = r.In.Host
	}}
	api := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if spoil := s.troubles.Load(); spoil != nil {
			(*spoil)(w, r, program)
			return
		}
		program.ServeHTTP(w, r)
	})
	mux := http.NewServeMux()
	mux.Handle("/graphql", api)
	mux.Handle("/", web.Options{Plans: true}.Handler(api))
	server := httptest.NewUnstartedServer(mux)
	server.Config.ErrorLog = quiet
	server.Start()
	t.Cleanup(server.Close)
	s.troubled = server.URL
}

// meet applies a trouble to the API from now on; nil ends it.
func (s *site) meet(spoil trouble) {
	if spoil == nil {
		s.troubles.Store(nil)
		return
	}
	s.troubles.Store(&spoil)
}

// counted waits until the statistics of a product have the wanted number of comments.
func (s *site) counted(t *testing.T, product string, want int) {
	t.Helper()
	var got struct {
		Product struct{ Stats struct{ Total int } }
	}
	s.becomes(t, `query($id: ID!) { product(id: $id) { stats { total } } }`, product, &got, func() bool { return got.Product.Stats.Total == want })
}

// becomes waits until the answer to a query about an id is as wanted.
func (s *site) becomes(t *testing.T, query, id string, got any, wanted func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); ; time.Sleep(10 * time.Millisecond) {
		err := s.try(query, map[string]any{"id": id}, got)
		if err == nil && wanted() {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s of %s has %+v: %v", query, id, got, err)
		}
	}
}

// ask posts an operation to the program. It has to succeed.
func (s *site) ask(t *testing.T, query string, variables map[string]any, data any) {
	t.Helper()
	if err := s.try(query, variables, data); err != nil {
		t.Fatalf("%s with %v: %v", query, variables, err)
	}
}

// try posts an operation to the program.
func (s *site) try(query string, variables map[string]any, data any) error {
	body, err := json.Marshal(map[string]any{"query": query, "variables": variables})
	if err != nil {
		return err
	}
	request, err := http.NewRequest(http.MethodPost, s.address+"/graphql", bytes.NewReader(body))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/json")
	if s.token != "" {
		request.Header.Set("Authorization", "Bearer "+s.token)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	var answer struct {
		Data   json.RawMessage
		Errors []struct{ Message string }
	}
	if err := json.NewDecoder(response.Body).Decode(&answer); err != nil {
		return err
	}
	if len(answer.Errors) > 0 {
		return fmt.Errorf("%v", answer.Errors)
	}
	return json.Unmarshal(answer.Data, data)
}

// idsAt asks the API for the comments that the page at an address must show.
func (s *site) idsAt(t *testing.T, address string) []string {
	t.Helper()
	parsed := must.Get(url.Parse(address))(t)
	return s.idsFor(t, wantedBy(t, parsed))
}

func (s *site) idsFor(t *testing.T, variables map[string]any) (ids []string) {
	t.Helper()
	const query = `query($id: ID!, $page: Int, $filter: CommentFilter, $order: CommentOrder) {
		product(id: $id) { comments(first: 20, page: $page, filter: $filter, order: $order) { nodes { id } } }
	}`
	var got struct {
		Product struct {
			Comments struct{ Nodes []struct{ ID string } }
		}
	}
	s.ask(t, query, variables, &got)
	for _, node := range got.Product.Comments.Nodes {
		ids = append(ids, node.ID)
	}
	return ids
}

// wantedBy returns the variables for an address of a product page.
func wantedBy(t *testing.T, address *url.URL) map[string]any {
	t.Helper()
	query, filter := address.Query(), map[string]any{}
	var ratings []int
	for _, rating := range query["rating"] {
		ratings = append(ratings, int(rating[0]-'0'))
	}
	if ratings != nil {
		filter["ratings"] = ratings
	}
	if languages := query["language"]; languages != nil {
		filter["languages"] = languages
	}
	if from := query.Get("from"); from != "" {
		filter["createdAfter"] = from + "T00:00:00Z"
	}
	if to := query.Get("to"); to != "" {
		day := must.Get(time.Parse(time.DateOnly, to))(t)
		filter["createdBefore"] = day.AddDate(0, 0, 1).Format(time.RFC3339)
	}
	variables := map[string]any{"id": strings.TrimPrefix(address.Path, "/products/"), "page": 1, "filter": filter}
	if page := query.Get("page"); page != "" {
		must.Get(fmt.Sscan(page, new(int)))(t)
		variables["page"] = json.Number(page)
	}
	if order := query.Get("order"); order != "" {
		variables["order"] = map[string]string{"oldest": "OLDEST_FIRST", "highest": "HIGHEST_RATED", "lowest": "LOWEST_RATED", "helpful": "MOST_HELPFUL"}[order]
	}
	return variables
}
