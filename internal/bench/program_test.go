package bench

// The programs that BenchmarkRequests compares are separate processes, so that a process's usage is
// its program's cost. All but Apollo Server are this test binary, controlled by the environment
// variable BENCH_PROGRAM.

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/talkback/talkback/command"
	"github.com/talkback/talkback/internal/commenttest/must"
)

// The environment variables of a program: its name, the address of its table, and for the bare
// handler the file of its reads.
const (
	programVariable  = "BENCH_PROGRAM"
	endpointVariable = "BENCH_ENDPOINT"
	tableVariable    = "BENCH_TABLE"
	readsVariable    = "BENCH_READS"
)

// beforeVariable names an older build of this test, whose whole server then takes part as before.
const beforeVariable = "BENCH_BEFORE"

// program is a running server.
type program struct {
	name    string
	address string // host and port
	asks    io.WriteCloser
	answers *bufio.Scanner
	// countsAllocations is whether it knows how often it allocates.
	countsAllocations bool
}

// The questions to a program, a line each.
const (
	askUsage  = "usage"
	askMemory = "memory"
)

// startProgram starts a server that prints its address, and ends with its standard input.
func startProgram(tb testing.TB, name string, process *exec.Cmd) *program {
	tb.Helper()
	said := must.Get(os.Create(filepath.Join(tb.TempDir(), "log")))(tb)
	process.Stderr = said
	asks := must.Get(process.StdinPipe())(tb)
	answers := must.Get(process.StdoutPipe())(tb)
	must.Do(tb, process.Start())
	p := &program{name: name, asks: asks, answers: bufio.NewScanner(answers)}
	tb.Cleanup(func() {
		_ = asks.Close() // it may have ended already
		_ = process.Wait()
		if tb.Failed() {
			log, err := os.ReadFile(said.Name())
			tb.Logf("%s said: %s%v", name, log, err)
		}
	})
	if !p.answers.Scan() {
		tb.Fatalf("%s did not start", name)
	}
	p.address = p.answers.Text()
	return p
}

// startSelf starts a program that is this binary.
func startSelf(tb testing.TB, name string, environment ...string) *program {
	tb.Helper()
	return startBinary(tb, os.Args[0], name, name, environment...)
}

// startBinary starts a program from another build of this test under a given name.
func startBinary(tb testing.TB, binary, main, name string, environment ...string) *program {
	tb.Helper()
	process := exec.Command(binary)
	process.Env = append(append(os.Environ(), programVariable+"="+main), environment...)
	p := startProgram(tb, name, process)
	p.countsAllocations = true
	return p
}

func (p *program) ask(tb testing.TB, what string) (said usage) {
	tb.Helper()
	must.Get(fmt.Fprintln(p.asks, what))(tb)
	if !p.answers.Scan() {
		tb.Fatalf("%s has ended", p.name)
	}
	must.Do(tb, json.Unmarshal(p.answers.Bytes(), &said))
	return said
}

// programs are the main functions, by their names. Each serves until the process ends, and returns
// its address.
var programs = map[string]func() (address string, err error){
	"whole":           serveWhole,
	"bare":            serveBare,
	"published":       servePublished,
	"published-plain": servePublished,
	"floor":           serveFloor,
}

// runProgram is the main function of this binary when it is a program. It returns the exit status.
func runProgram(name string) int {
	address, err := programs[name]()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	fmt.Println(address)
	for asked := bufio.NewScanner(os.Stdin); asked.Scan(); {
		if err := profileAsAsked(asked.Text()); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		if err := json.NewEncoder(os.Stdout).Encode(stated(asked.Text())); err != nil {
			return 1
		}
	}
	return 0
}

func stated(asked string) usage {
	said, err := used()
	if err != nil {
		panic(err) // of this process, at this time: there is no reason
	}
	if asked == askMemory {
		runtime.GC()
		runtime.GC() // frees objects of finalizers and pools
		var memory runtime.MemStats
		runtime.ReadMemStats(&memory)
		said.MemoryBytes = memory.HeapAlloc + memory.StackInuse
	}
	return said
}

var apiAddress = regexp.MustCompile(`API +http://(\S+)/graphql`)

// serveWhole runs the command serve unchanged. Its flags give only addresses, and limits so high
// that no request is refused. The other programs refuse none either, and the memory of requests in
// flight is compared.
func serveWhole() (string, error) {
	said, says := io.Pipe()
	term := command.Terminal{In: strings.NewReader(""), Out: io.Discard, Err: says, Logger: slog.New(slog.NewTextHandler(os.Stderr, nil))}
	go func() {
		command.Main(context.Background(), []string{
			"serve", "--listen", "127.0.0.1:0", "--no-count", "--min-in-flight", "256", "--max-in-flight", "256",
			"--endpoint", os.Getenv(endpointVariable), "--table", os.Getenv(tableVariable),
		}, term)
		_ = says.Close() // never fails
	}()
	var all strings.Builder
	for lines := bufio.NewScanner(said); lines.Scan(); {
		fmt.Fprintln(&all, lines.Text())
		if match := apiAddress.FindStringSubmatch(lines.Text()); match != nil {
			go func() { _, _ = io.Copy(io.Discard, said) }() // otherwise it would block on writing
			return match[1], nil
		}
	}
	return "", fmt.Errorf("the server has ended:\n%s", all.String())
}

// serveBare runs the bare handler, with reads that the whole server made before.
func serveBare() (string, error) {
	raw, err := os.ReadFile(os.Getenv(readsVariable))
	if err != nil {
		return "", err
	}
	var learned []learnedPage
	if err := json.Unmarshal(raw, &learned); err != nil {
		return "", err
	}
	reads := bareReads{}
	for _, page := range learned {
		if err := reads.learn(page); err != nil {
			return "", err
		}
	}
	return serveHandler(bareHandler{client: bareClient(), table: os.Getenv(tableVariable), reads: reads})
}

func servePublished() (string, error) {
	return serveHandler(bareHandler{client: bareClient(), table: os.Getenv(tableVariable), published: true})
}

func serveHandler(handler http.Handler) (string, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	server := &http.Server{Handler: handler, ReadHeaderTimeout: time.Minute}
	go func() { _ = server.Serve(listener) }() // until the process ends
	return listener.Addr().String(), nil
}

// bareClient is the SDK's client with default options, except that it keeps all its connections
// open. By default it keeps 10, so a busy server would open new ones for most calls.
func bareClient() *dynamodb.Client {
	return plainClient(os.Getenv(endpointVariable), awshttp.NewBuildableClient().WithTransportOptions(func(t *http.Transport) {
		t.MaxIdleConnsPerHost = 256
	}))
}
