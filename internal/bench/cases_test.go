package bench

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/talkback/talkback/auth"
	"github.com/talkback/talkback/command"
	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo"
	"github.com/talkback/talkback/dynamo/call"
	"github.com/talkback/talkback/dynamo/counts"
	"github.com/talkback/talkback/dynamo/leases"
	"github.com/talkback/talkback/internal/commenttest"
	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/internal/dynamotest"
	"github.com/talkback/talkback/internal/streamtest"
	"github.com/talkback/talkback/stream"
)

func TestMain(m *testing.M) {
	if name := os.Getenv(programVariable); name != "" {
		runtime.MemProfileRate = 0
		os.Exit(runProgram(name))
	}
	// A program that does not use memory profiles takes none; one that tests does, at each
	// allocation by chance and at a price that grows with the depth of the stack.
	runtime.MemProfileRate = 0
	dynamotest.Main(m)
}

const (
	product  = "kettle"
	pageSize = 20
	// howMany comments leave every rating more of them than fit on a page.
	howMany = 800
	// productCount is how many products the case of statistics shows, each with howManyEach
	// comments.
	productCount, howManyEach = 20, 40
)

// The operations are those of a shop's page. They ask for no cursor and no plan, which the bare
// handler would have to take from the server's own code.
const (
	pageOperation = `query Comments($product: ID!, $filter: CommentFilter, $first: Int) {
  product(id: $product) {
    comments(filter: $filter, first: $first) {
      edges { node { id rating language title text author { name } createdAt } }
      pageInfo { hasNextPage hasPreviousPage }
    }
  }
}`
	commentOperation = `query Comment($id: ID!) {
  comment(id: $id) { id rating language title text author { name } createdAt }
}`
)

const planOperation = `query Plan($product: ID!) {
  product(id: $product) { comments(filter: {ratings: [1, 2, 3, 4]}) { plan { candidates { estimatedUnits } } } }
}`

const statsOperation = `query Stats($ids: [ID!]!) {
  products(ids: $ids) { id stats { total average ratings { rating count } } }
}`

// contest is the whole server, the bare handler and the published way, all over the answers of one
// table, with their requests.
type contest struct {
	whole, bare, published http.Handler
	wholeTape, bareTape    *tape
	endpoint, table        string
	reads                  bareReads // of the bare handler
	cases                  []benchCase
}

// benchCase is one request.
type benchCase struct {
	name string
	body []byte
	// page is whether a page is asked for.
	page bool
}

// visitsBefore is how often a page is requested before it is measured. By then the server's
// estimate of the size of comments has settled.
const visitsBefore = 40

// newContest fills a table, and warms up the server for the product. The bare handler copies the
// server's calls.
func newContest(tb testing.TB) *contest {
	tb.Helper()
	endpoint, table := dynamotest.Dynoxide(tb), dynamotest.TableName(tb)
	comments := load(tb, endpoint, table)
	reads := bareReads{}
	c := &contest{wholeTape: newTape(), bareTape: newTape(), endpoint: endpoint, table: table, reads: reads, cases: casesOf(comments)}
	c.whole = serverOver(tapedClient(endpoint, c.wholeTape), endpoint, table, streamtest.Prompt{})
	c.bare = bareHandler{client: plainClient(endpoint, c.bareTape), table: table, reads: reads}
	c.published = bareHandler{client: plainClient(endpoint, newTape()), table: table, published: true}
	warmUp(tb, c.whole)
	for _, bc := range c.cases {
		if bc.page {
			c.learn(tb, bc)
		}
	}
	return c
}

// learn gives the bare handler the server's current calls for a page. It returns the results of
// settled.
func (c *contest) learn(tb testing.TB, bc benchCase) (answer []byte, calls []tapedCall) {
	tb.Helper()
	answer, calls = c.settled(tb, bc)
	must.Do(tb, c.reads.learn(learned(bc.body, calls)))
	return answer, calls
}

// settled returns the server's answer once it has seen the same page often, and the calls for it.
func (c *contest) settled(tb testing.TB, bc benchCase) (answer []byte, calls []tapedCall) {
	tb.Helper()
	for range visitsBefore {
		ask(tb, c.whole, bc.body)
	}
	calls = c.wholeTape.during(func() { answer = bytes.Clone(ask(tb, c.whole, bc.body)) })
	return answer, calls
}

// warmUp requests a page until the server knows the statistics of the product, usually from the
// second or third page on.
func warmUp(tb testing.TB, handler http.Handler) {
	tb.Helper()
	planned := newCase("plan", planOperation, map[string]any{"product": product})
	for bytes.Contains(ask(tb, handler, planned.body), []byte(`"estimatedUnits":null`)) {
		runtime.Gosched()
	}
}

// load fills a new table with comments of about 500 bytes as items, the average of real reviews.
func load(tb testing.TB, endpoint, table string) []comment.Comment {
	tb.Helper()
	r := rand.New(rand.NewPCG(1, 2))
	comments := reviews(r, product, howMany)
	for _, id := range productIDs() {
		comments = append(comments, commenttest.Many(r, id, howManyEach)...)
	}
	fill(tb, endpoint, table, comments)
	return comments
}

// reviews are comments as long and rated as a shop's.
func reviews(r *rand.Rand, product string, count int) []comment.Comment {
	comments := commenttest.Many(r, product, count)
	for i := range comments {
		comments[i].Rating = ratingOf(r.IntN(100))
		comments[i].Text = prose(r, 40+r.IntN(500)) + "\nI'd \"buy\" it again."
	}
	return comments
}

// fill makes a table of comments, which are counted.
func fill(tb testing.TB, endpoint, table string, comments []comment.Comment) {
	tb.Helper()
	client := call.NewLocalClient(endpoint)
	must.Do(tb, dynamo.CreateTable(tb.Context(), client, table))
	must.Get(dynamo.NewLoader(client, table, 0).Load(tb.Context(), comments))(tb)
	countAll(tb, client, table)
}

// letters are as frequent as in English, so that a text of them compresses like a review, to some
// 0.6 of its bytes.
const letters = "          eeeeeeettttttaaaaaoooooiiiiinnnnnsssshhhhrrrrdddlluuccmmwwffggyyppbbvk,."

// prose returns a text of length bytes.
func prose(r *rand.Rand, length int) string {
	text := make([]byte, length)
	for i := range text {
		text[i] = letters[r.IntN(len(letters))]
	}
	return string(text)
}

// ratingOf returns a rating with a shop's distribution: 55, 20, 10, 6 and 9 in a hundred, from the
// best to the worst.
func ratingOf(hundredth int) int {
	for i, below := range []int{55, 75, 85, 91} {
		if hundredth < below {
			return comment.MaxRating - i
		}
	}
	return 1
}

// countAll writes the statistics of the table's comments, as the readers of its stream would.
func countAll(tb testing.TB, client *dynamodb.Client, table string) {
	tb.Helper()
	var records []stream.Record
	pages := dynamodb.NewScanPaginator(client, &dynamodb.ScanInput{TableName: aws.String(table)})
	for pages.HasMorePages() {
		page := must.Get(pages.NextPage(tb.Context()))(tb)
		for _, item := range page.Items {
			position := stream.PositionOf("2026-01-01T00:00:00.000", strconv.Itoa(len(records)))
			records = append(records, stream.Record{Position: position, New: item})
		}
	}
	must.Do(tb, counts.NewCounter(client, table, counts.CounterOptions{}).Handle(tb.Context(), records))
	must.Do(tb, stream.MarkComplete(tb.Context(), leases.NewLeases(client, table), stream.State{}, time.Now()))
}

// productIDs are the products whose statistics are requested.
func productIDs() []string {
	ids := make([]string, productCount)
	for i := range ids {
		ids[i] = "pan-" + strconv.Itoa(i)
	}
	return ids
}

func casesOf(comments []comment.Comment) []benchCase {
	four := fourRatings()
	return []benchCase{
		newPage("newest", nil),
		newPage("two-ratings-of-one-language", map[string]any{"languages": []string{"en"}, "ratings": []int{4, 5}}),
		four[0],
		four[comment.MaxRating-1],
		newCase("one-comment", commentOperation, map[string]any{"id": comments[0].ID}),
		newCase("stats-of-20-products", statsOperation, map[string]any{"ids": productIDs()}),
	}
}

// fourRatings are pages of all comments but those of one rating, from 1 star on.
func fourRatings() []benchCase {
	var cases []benchCase
	for without := 1; without <= comment.MaxRating; without++ {
		ratings := slices.DeleteFunc([]int{1, 2, 3, 4, 5}, func(rating int) bool { return rating == without })
		cases = append(cases, newPage(fmt.Sprintf("all-but-%d-stars", without), map[string]any{"ratings": ratings}))
	}
	cases[0].name = "all-but-1-star"
	return cases
}

func newPage(name string, filter map[string]any) benchCase {
	bc := newCase(name, pageOperation, map[string]any{"product": product, "filter": filter, "first": pageSize})
	bc.page = true
	return bc
}

func newCase(name, operation string, variables map[string]any) benchCase {
	body, err := json.Marshal(map[string]any{"query": operation, "variables": variables})
	if err != nil {
		panic(err) // the cases are constants
	}
	return benchCase{name: name, body: body}
}

// tapedClient is the client of the service, which differs only in the source of its answers.
func tapedClient(endpoint string, httpClient dynamodb.HTTPClient) *dynamodb.Client {
	return call.Over(call.NewLocalClient(endpoint), httpClient)
}

// serverOver returns the service as the command wires it. Without a watermark it plans without
// statistics.
func serverOver(client *dynamodb.Client, endpoint, table string, watermark dynamo.Watermark) http.Handler {
	serve := command.Serve{OperationTimeout: time.Minute, StatisticsAge: 5 * time.Second, Watermark: watermark}
	return serve.Handler(
		serve.Store(&command.Session{Client: client, Table: table, Address: endpoint}, nil, slog.New(slog.DiscardHandler)),
		nil, &auth.Guard{},
		command.Terminal{Err: io.Discard, Logger: slog.New(slog.DiscardHandler)},
	)
}

// plainClient is the SDK's client with default options, so that the effects of the server's own
// options show.
func plainClient(endpoint string, httpClient dynamodb.HTTPClient) *dynamodb.Client {
	return dynamodb.New(dynamodb.Options{
		BaseEndpoint: aws.String(endpoint),
		Region:       "us-east-1",
		Credentials:  credentials.NewStaticCredentialsProvider("local", "local", ""),
		HTTPClient:   httpClient,
	})
}

// answerRoom holds one answer after another: growing it is no cost of a server.
var answerRoom bytes.Buffer

// ask sends a request to a handler, which must answer with data and without errors. The answer is
// valid until the next call.
func ask(tb testing.TB, handler http.Handler, body []byte) []byte {
	recorder := httptest.NewRecorder()
	answerRoom.Reset()
	recorder.Body = &answerRoom
	request := httptest.NewRequest(http.MethodPost, "/graphql", bytes.NewReader(body))
	request.Header.Set("Content-Type", "application/json")
	handler.ServeHTTP(recorder, request)
	answer := recorder.Body.Bytes()
	if err := checkAnswer(recorder.Code, answer); err != nil {
		tb.Helper() // not before, for its time would count
		tb.Fatal(err)
	}
	return answer
}

// checkAnswer looks for an error without reading the JSON, whose time would count.
func checkAnswer(status int, answer []byte) error {
	if status != http.StatusOK || !bytes.HasPrefix(answer, []byte(`{"data":{`)) {
		return fmt.Errorf("status %d: %s", status, answer)
	}
	return nil
}
