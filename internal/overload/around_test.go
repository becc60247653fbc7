package overload

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"strconv"
	"testing"

	"github.com/talkback/talkback/internal/servertest"
)

// processors are lists of processors, in taskset's form: those of the measured servers, and those
// of everything else. Both are empty where processors cannot be divided.
type processors struct{ servers, others string }

// divide gives the servers half of the processors, and this process and its later children the
// others. Otherwise the generator would take more from the server the more it sends.
func divide(t *testing.T) processors {
	t.Helper()
	n := runtime.NumCPU()
	if _, err := exec.LookPath("taskset"); err != nil || n < 2 {
		t.Log("servers share their processors with what asks them: taskset or a second processor is missing")
		return processors{}
	}
	p := processors{servers: fmt.Sprintf("%d-%d", n/2, n-1), others: fmt.Sprintf("0-%d", n/2-1)}
	if said, err := exec.Command("taskset", "-a", "-p", "-c", p.others, strconv.Itoa(os.Getpid())).CombinedOutput(); err != nil {
		t.Fatalf("taskset: %v: %s", err, said)
	}
	return p
}

// command returns a command that runs on the servers' processors.
func (p processors) command(name string, arguments ...string) *exec.Cmd {
	if p.servers == "" {
		return exec.Command(name, arguments...)
	}
	return exec.Command("taskset", append([]string{"-c", p.servers, name}, arguments...)...)
}

// refuserVariable makes this test binary a server that refuses everything.
const refuserVariable = "TALKBACK_OVERLOAD_REFUSER"

// refuse refuses as quickly as a net/http server can with the same words.
func refuse(w http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body) // a client that went away needs no answer
	w.Header().Set("Retry-After", "1")
	w.WriteHeader(http.StatusServiceUnavailable)
	_, _ = io.WriteString(w, `{"errors":[{"message":"too many requests are under way: try again in a second","extensions":{"code":"OVERLOADED"}}]}`)
}

// serveRefusals serves refuse until the process is killed, and prints its address.
func serveRefusals() {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	fmt.Printf("http://%s/graphql\n", listener.Addr())
	panic(http.Serve(listener, http.HandlerFunc(refuse)))
}

// startRefuser starts a server that refuses everything, beside those that are measured.
func startRefuser(t *testing.T, on processors) (url string) {
	t.Helper()
	process := on.command(os.Args[0])
	process.Env = append(os.Environ(), refuserVariable+"=1")
	return servertest.Says(t, process, process.StdoutPipe, regexp.MustCompile(`^http://\S+$`))[0]
}
