package overload

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/talkback/talkback/dynamo"
	"github.com/talkback/talkback/dynamo/call"
	"github.com/talkback/talkback/dynamo/leases"
	"github.com/talkback/talkback/internal/commenttest"
	"github.com/talkback/talkback/internal/dynamotest"
	"github.com/talkback/talkback/stream"
)

var (
	out     = flag.String("out", "", "write figures to this file with .csv, and the plot with .svg")
	program = flag.String("program", "", "the program to measure; without it nothing is measured")
)

func TestMain(m *testing.M) {
	flag.Parse()
	os.Exit(dynamotest.Run(m))
}

const (
	// products have a page of comments and more each.
	products, commentsEach = 100, 40
	// crowd is how many clients ask at once when the capacity is sought. A server of two processors
	// needs fewer to be busy.
	crowd = 16
	// stepTime is how long each load lasts, and calmTime how long the server has before.
	stepTime, calmTime = 4 * time.Second, time.Second / 2
)

// loads are multiples of the capacity.
var loads = []float64{0.25, 0.5, 1, 1.5, 2, 3}

// variant is a way to bound requests.
type variant struct {
	Name        string
	flags       []string
	environment []string
}

var variants = []variant{
	{Name: "adaptive"},
	{Name: "fixed at 256", flags: []string{"--min-in-flight=256", "--max-in-flight=256"}},
	{Name: "none", flags: []string{"--min-in-flight=100000", "--max-in-flight=100000"}},
	{Name: "adaptive, 128 MiB", environment: []string{"GOMEMLIMIT=128MiB"}},
}

// figure is what became of one load.
type figure struct {
	Variant string
	Load    float64 // as a multiple of the capacity
	tally
	PeakMB int // of the server's resident memory until then
}

// The servers of all variants stand over one table. Each load is sent to one after the other, so
// that what else the machine does disturbs them alike.
func TestMeasure(t *testing.T) {
	if *program == "" {
		t.Skip("it takes minutes: make overload")
	}
	endpoint, table := newTable(t)
	servers := make([]*server, len(variants))
	for i, v := range variants {
		servers[i] = start(t, v, endpoint, table)
	}
	for _, s := range servers {
		s.capacity(t, time.Second) // what is learned once is learned
	}
	capacity := servers[0].capacity(t, 5*time.Second)
	t.Logf("%d clients that wait for their answers get %.0f a second", crowd, capacity)
	var figures []figure
	for _, load := range loads {
		for i, v := range variants {
			time.Sleep(calmTime)
			got := servers[i].arrivals.run(load*capacity, stepTime)
			figures = append(figures, figure{v.Name, load, got, servers[i].peak(t)})
			t.Logf("%-18s %4.2f %+v", v.Name, load, got)
		}
	}
	for i, v := range variants {
		time.Sleep(calmTime)
		t.Logf("%-18s afterwards %+v", v.Name, servers[i].arrivals.run(capacity/2, stepTime))
	}
	fmt.Println(markdown(capacity, figures))
	if *out != "" {
		write(t, *out+".csv", lines(figures))
		write(t, *out+".svg", picture(figures))
	}
}

func write(t *testing.T, file string, content []byte) {
	t.Helper()
	if err := os.WriteFile(file, content, 0o644); err != nil {
		t.Fatal(err)
	}
}

// newTable fills a table.
func newTable(t *testing.T) (endpoint, table string) {
	t.Helper()
	endpoint, table = dynamotest.Dynoxide(t), dynamotest.TableName(t)
	client := call.NewLocalClient(endpoint)
	if err := dynamo.CreateTable(t.Context(), client, table); err != nil {
		t.Fatal(err)
	}
	r := commenttest.Rand(t)
	loader := dynamo.NewLoader(client, table, 0)
	for product := range products {
		if _, err := loader.Load(t.Context(), commenttest.Many(r, strconv.Itoa(product), commentsEach)); err != nil {
			t.Fatal(err)
		}
	}
	if err := stream.MarkComplete(t.Context(), leases.NewLeases(client, table), stream.State{}, time.Now()); err != nil {
		t.Fatal(err)
	}
	return endpoint, table
}

// server is a running program.
type server struct {
	process  *exec.Cmd
	arrivals *arrivals
}

var apiAddress = regexp.MustCompile(`API +(http://\S+/graphql)`)

// start runs the program until the test ends.
func start(t *testing.T, v variant, endpoint, table string) *server {
	t.Helper()
	arguments := append([]string{"serve", "--listen", "127.0.0.1:0", "--no-count", "--max-connections=4096", "--endpoint", endpoint, "--table", table}, v.flags...)
	process := exec.Command(*program, arguments...)
	process.Env = append(os.Environ(), v.environment...)
	said, err := process.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := process.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = process.Process.Signal(syscall.SIGTERM) // it may have ended
		_ = process.Wait()                          // with whatever status
	})
	output := bufio.NewScanner(said)
	for output.Scan() {
		if match := apiAddress.FindStringSubmatch(output.Text()); match != nil {
			go func() { _, _ = io.Copy(io.Discard, said) }() // until it ends
			r := rand.New(rand.NewPCG(1, 2))
			return &server{process, &arrivals{send: posting(match[1], page), r: r}}
		}
	}
	t.Fatalf("%s has not started", v.Name)
	return nil
}

var asked atomic.Int64

// page asks for the newest comments of one product after the other. Two requests for the same page
// at the same time would share a read.
func page() io.Reader {
	return strings.NewReader(fmt.Sprintf(`{"query":"query Page($product: ID!) { product(id: $product) { comments(first: 20) { nodes { id rating language title text author { name } createdAt } pageInfo { endCursor hasNextPage } } } }","variables":{"product":"%d"}}`, asked.Add(1)%products))
}

// capacity is how many answers a second a few clients get that wait for them.
func (s *server) capacity(t *testing.T, lasting time.Duration) float64 {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), lasting)
	defer cancel()
	var answers atomic.Int64
	var clients errgroup.Group
	for range crowd {
		clients.Go(func() error {
			for {
				status, err := s.arrivals.send(ctx)
				switch {
				case ctx.Err() != nil:
					return nil
				case err != nil:
					return err
				case status == 200:
					answers.Add(1)
				}
			}
		})
	}
	if err := clients.Wait(); err != nil {
		t.Fatal(err)
	}
	return float64(answers.Load()) / lasting.Seconds()
}

// peak is the most memory that the server had, in MB; 0 where the system does not tell.
func (s *server) peak(t *testing.T) int {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.process.Process.Pid))
	if err != nil {
		return 0
	}
	_, after, _ := strings.Cut(string(text), "VmHWM:")
	kilobytes, err := strconv.Atoi(strings.Fields(after)[0])
	if err != nil {
		t.Fatal(err)
	}
	return kilobytes >> 10
}
