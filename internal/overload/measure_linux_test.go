package overload

import (
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/talkback/talkback/dynamo"
	"github.com/talkback/talkback/dynamo/call"
	"github.com/talkback/talkback/dynamo/leases"
	"github.com/talkback/talkback/internal/commenttest"
	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/internal/dynamotest"
	"github.com/talkback/talkback/internal/servertest"
	"github.com/talkback/talkback/stream"
)

var (
	out     = flag.String("out", "", "write figures to this file with .csv, and the plot with .svg")
	program = flag.String("program", "", "the program to measure; without it nothing is measured")
	first   = flag.Int("first", 100, "comments of each page that is asked for, 100 at most")
)

func TestMain(m *testing.M) {
	if os.Getenv(refuserVariable) != "" {
		serveRefusals()
	}
	flag.Parse()
	os.Exit(dynamotest.Run(m))
}

const (
	// products have commentsEach comments each, so that a page of 100 can begin at each of the
	// positions.
	products, commentsEach, positions = 50, 140, 40
	// crowd is how many clients ask at once when the capacity is sought. A server of two processors
	// needs fewer to be busy.
	crowd = 16
	// capacityRounds is the number of seconds in which the capacity is measured. The best second
	// counts: other work on the machine can only lower the figure.
	capacityRounds = 5
	// stepTime is how long each load lasts in a round, and calmTime the pause before it.
	stepTime, calmTime = 2 * time.Second, time.Second / 2
	// rounds is how often each load is sent to each server. Figures are medians of the rounds.
	rounds = 5
	// crowdRounds is how often each crowd is sent, and crowdTime for how long. Every other round
	// begins with the largest: the speed of a shared processor falls while it is busy.
	crowdRounds, crowdTime = 7, 3 * time.Second
	// besides is how many requests a second a server that refuses everything gets at the same time.
	besides = 100
	// prepared is how many connections are open to each server before it is measured.
	prepared = 64
	// overloadTime is how long the overload lasts that a server is to recover from, and afterwards how
	// long it is looked at.
	overloadTime, afterwards = 10 * time.Second, 10
)

// crowds are numbers of clients that ask again at once, even when they are refused.
var crowds = []int{16, 64, 256, 1024}

// Clients that ask again at once, a closed loop, reduce the answers only a little.
func TestCrowds(t *testing.T) {
	if *program == "" {
		t.Skip("it takes a minute: make overload")
	}
	m := begin(t, variants[0])
	of := make([][]figure, len(crowds))
	for round := range crowdRounds {
		for i := range crowds {
			if round%2 == 1 {
				i = len(crowds) - 1 - i
			}
			clients := crowds[i]
			time.Sleep(calmTime)
			server := m.servers[0].direct()
			f := &flow{target: server, due: make([]time.Duration, clients), again: crowdTime, rude: true}
			must.Do(t, m.generator.run(f))
			for _, c := range server.idle {
				m.generator.close(c)
			}
			of[i] = append(of[i], figure{tally: f.tally(crowdTime)})
			t.Logf("%d clients get %+v", clients, f.tally(crowdTime))
		}
	}
	var rows []row
	for i, clients := range crowds {
		rows = append(rows, row{clients, median(of[i]).tally})
	}
	fmt.Println(crowded(rows, kept(of)))
	if *out != "" {
		must.Do(t, os.WriteFile(*out+"-crowds.csv", tallies("clients", rows), 0o644))
	}
}

// The servers of all variants share one table. Those that disturb others come last.
func TestMeasure(t *testing.T) {
	if *program == "" {
		t.Skip("it takes minutes: make overload")
	}
	m := begin(t, variants...)
	figures := m.rounds(t, 0, considerate)
	seconds := m.recover(t, m.servers[0])
	figures = append(figures, m.rounds(t, considerate, len(variants))...)
	fmt.Println(markdown(m.capacity, figures, seconds))
	if *out != "" {
		must.Do(t, os.WriteFile(*out+".csv", lines(figures), 0o644))
		must.Do(t, os.WriteFile(*out+"-recovery.csv", tallies("second", seconds), 0o644))
		must.Do(t, os.WriteFile(*out+".svg", picture(figures), 0o644))
	}
}

// measurement is the servers of all variants, and one that refuses everything.
type measurement struct {
	generator *generator
	table     *quickTable
	servers   []*server
	refuser   *target
	capacity  float64 // the most answers per second that a few clients get from the first server
	r         *rand.Rand
}

func begin(t *testing.T, variants ...variant) *measurement {
	t.Helper()
	on := divide(t)
	// The generator's thread has one, and need not wait for another when it comes from the kernel.
	runtime.GOMAXPROCS(4)
	debug.SetGCPercent(400) // a few MB are live
	engine, table := newTable(t)
	m := &measurement{generator: newGenerator(t), r: rand.New(rand.NewPCG(1, 2))}
	var endpoint string
	m.table, endpoint = newQuickTable(t, engine)
	asked := new(questions)
	m.refuser = m.to(t, startRefuser(t, on), asked)
	for _, v := range variants {
		url, process := start(t, on, v, endpoint, table)
		if asked.bodies == nil {
			asked.ask(t, url)
		}
		s := &server{process, m.to(t, url, asked)}
		m.crowd(t, s, 4*time.Second) // to warm up the server
		m.servers = append(m.servers, s)
	}
	for range capacityRounds {
		got := m.crowd(t, m.servers[0], time.Second)
		m.capacity = max(m.capacity, got.Good)
		t.Logf("%d clients that wait for their answers get %+v", crowd, got)
	}
	return m
}

// rounds measures some of the variants. Each round gives each of them each load, one after the
// other, so that other work of the machine disturbs them alike.
func (m *measurement) rounds(t *testing.T, from, to int) (figures []figure) {
	t.Helper()
	of := make([][]figure, len(loads)*(to-from))
	for range rounds {
		at := 0
		for _, load := range loads {
			for number := from; number < to; number++ {
				of[at] = append(of[at], m.step(t, number, variants[number], load))
				at++
			}
		}
	}
	for _, each := range of {
		figures = append(figures, median(each))
	}
	return figures
}

func (m *measurement) to(t *testing.T, url string, asked *questions) *target {
	t.Helper()
	server := to(t, url, asked.next)
	must.Do(t, m.generator.prepare(server, prepared))
	return server
}

// crowd returns the results of a few clients that wait for their answers.
func (m *measurement) crowd(t *testing.T, s *server, lasting time.Duration) tally {
	t.Helper()
	f := &flow{target: s.target, due: make([]time.Duration, crowd), again: lasting}
	must.Do(t, m.generator.run(f))
	return f.tally(lasting)
}

// step sends a load to one server, and a few requests to the one that refuses everything. The time
// of these is the generator's and the machine's.
func (m *measurement) step(t *testing.T, number int, v variant, load float64) figure {
	t.Helper()
	time.Sleep(calmTime)
	own, refused := load*m.capacity, float64(besides)
	if v.spared {
		own, refused = min(load, 1)*m.capacity, refused+max(0, load-1)*m.capacity
	}
	s := m.servers[number]
	toServer := &flow{target: s.target, due: atRandom(m.r, own, stepTime)}
	beside := &flow{target: m.refuser, due: atRandom(m.r, refused, stepTime)}
	m.table.lateness() // discards the earlier ones
	before := s.used(t)
	must.Do(t, m.generator.run(toServer, beside))
	busy := (s.used(t) - before).Seconds() / stepTime.Seconds()
	got, floor := toServer.tally(stepTime), beside.tally(stepTime).RefusedP99
	table, passed := m.table.lateness()
	t.Logf("%-28s %4.2f %+v, %.2f of a processor; refused by the other server within %v; the table late by %v, passed on %v", v.Name, load, got, busy, floor, table, passed)
	return figure{v.Name, load, got, s.peak(t), floor, table, busy}
}

// recover compares half the load before and after an overload.
func (m *measurement) recover(t *testing.T, s *server) []row {
	t.Helper()
	at := func(load float64, lasting time.Duration) tally {
		f := &flow{target: s.target, due: atRandom(m.r, load*m.capacity, lasting)}
		must.Do(t, m.generator.run(f))
		return f.tally(lasting)
	}
	time.Sleep(calmTime)
	seconds := []row{{0, at(0.5, stepTime)}}
	t.Logf("for %v: %+v", overloadTime, at(loads[len(loads)-1], overloadTime))
	for number := range afterwards {
		seconds = append(seconds, row{number + 1, at(0.5, time.Second)})
	}
	return seconds
}

func newTable(t *testing.T) (endpoint, table string) {
	t.Helper()
	endpoint, table = dynamotest.Dynoxide(t), dynamotest.TableName(t)
	client := call.NewLocalClient(endpoint)
	must.Do(t, dynamo.CreateTable(t.Context(), client, table))
	r := commenttest.Rand(t)
	loader := dynamo.NewLoader(client, table, 0)
	for product := range products {
		must.Get(loader.Load(t.Context(), commenttest.Many(r, strconv.Itoa(product), commentsEach)))(t)
	}
	must.Do(t, stream.MarkComplete(t.Context(), leases.NewLeases(client, table), stream.State{}, time.Now()))
	return endpoint, table
}

// server is a running program.
type server struct {
	process *exec.Cmd
	*target
}

var apiAddress = regexp.MustCompile(`API +(http://\S+/graphql)`)

// start runs the program until the test ends. It returns the address of the API.
func start(t *testing.T, on processors, v variant, endpoint, table string) (url string, process *exec.Cmd) {
	t.Helper()
	arguments := append([]string{"serve", "--listen", "127.0.0.1:0", "--no-count", "--max-connections=4096", "--endpoint", endpoint, "--table", table}, v.flags...)
	process = on.command(*program, arguments...)
	process.Env = append(os.Environ(), v.environment...)
	return servertest.Says(t, process, process.StderrPipe, apiAddress)[1], process
}

// questions are pages that are requested in turn. No two at the same time are the same: they would
// share a read, and cost less the more are admitted.
type questions struct {
	bodies []string
	asked  int
}

func (q *questions) next() string {
	q.asked++
	return q.bodies[q.asked%len(q.bodies)]
}

// ask makes the questions, from the cursors of each product's first comments.
func (q *questions) ask(t *testing.T, url string) {
	t.Helper()
	for product := range products {
		for _, after := range cursors(t, url, product) {
			q.bodies = append(q.bodies, fmt.Sprintf(`{"query":"query Page($product: ID!, $after: String!) { product(id: $product) { comments(first: %d, after: $after) { nodes { id rating language title text author { name } createdAt } pageInfo { endCursor hasNextPage } } } }","variables":{"product":"%d","after":%q}}`, *first, product, after))
		}
	}
	rand.Shuffle(len(q.bodies), func(i, j int) { q.bodies[i], q.bodies[j] = q.bodies[j], q.bodies[i] })
}

func cursors(t *testing.T, url string, product int) (all []string) {
	t.Helper()
	response := must.Get(http.Post(url, "application/json", strings.NewReader(fmt.Sprintf(`{"query":"{ product(id: \"%d\") { comments(first: %d) { edges { cursor } } } }"}`, product, positions))))(t)
	defer response.Body.Close()
	var answer struct {
		Data struct {
			Product struct {
				Comments struct{ Edges []struct{ Cursor string } }
			}
		}
	}
	must.Do(t, json.NewDecoder(response.Body).Decode(&answer))
	for _, edge := range answer.Data.Product.Comments.Edges {
		all = append(all, edge.Cursor)
	}
	if len(all) != positions {
		t.Fatalf("%d cursors, want %d", len(all), positions)
	}
	return all
}

// peak returns the highest memory use of the server in MB, or 0 where the system does not report
// it.
func (s *server) peak(t *testing.T) int {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.process.Process.Pid))
	if err != nil {
		return 0
	}
	_, after, _ := strings.Cut(string(text), "VmHWM:")
	kilobytes := must.Get(strconv.Atoi(strings.Fields(after)[0]))(t)
	return kilobytes >> 10
}

// tick is the unit of processor time in Linux, on all machines that Go supports.
const tick = 10 * time.Millisecond

// used returns the processor time of the server, or 0 where the system does not report it.
func (s *server) used(t *testing.T) time.Duration {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", s.process.Process.Pid))
	if err != nil {
		return 0
	}
	_, after, _ := strings.Cut(string(text), ") ")
	fields := strings.Fields(after) // from the third on: see proc(5)
	var ticks int
	for _, field := range fields[11:13] {
		ticks += must.Get(strconv.Atoi(field))(t)
	}
	return time.Duration(ticks) * tick
}
