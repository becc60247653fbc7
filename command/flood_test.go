package command_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/internal/provisiontest"
)

// residentBound is what docs/design/connections.md promises of the memory of the whole process
// under clients that hold their requests back.
const residentBound = 200 << 20

// Whatever clients begin to send and do not finish, memory stays bounded, and complete requests are
// answered.
func TestRequestsHeldBack(t *testing.T) {
	t.Parallel()
	const connections = 2000
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil || limit.Cur < connections+200 {
		provisiontest.LeaveOut(t, fmt.Errorf("requests held back: %d file descriptors are too few for %d connections", limit.Cur, connections))
	}
	for name, attack := range map[string]func(*testing.T, string){
		"bodies over HTTP/2":   holdStreams,
		"bodies over HTTP/1.1": func(t *testing.T, address string) { holdConnections(t, address, connections, bodyHeldBack) },
		"heads":                func(t *testing.T, address string) { holdConnections(t, address, connections, headHeldBack) },
	} {
		t.Run(name, func(t *testing.T) {
			s := startServerWith(t, []string{"GOGC="}, onTable(t)...) // `make test` has it collect less often
			attack(t, strings.TrimPrefix(s.address, "http://"))
			if got := post(t, s.address, operation("{ __typename }", nil)); got.status != http.StatusOK {
				t.Errorf("others are answered %d: %s", got.status, got.body)
			}
			peak := peakOf(t, s)
			t.Logf("at most %d MB were resident", peak>>20)
			if peak > residentBound {
				t.Errorf("at most %d MB were resident, want %d", peak>>20, residentBound>>20)
			}
		})
	}
}

// Unfinished requests of clients: as much as the server takes.
var (
	bodyHeldBack = "POST /graphql HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 65536\r\n\r\n" + strings.Repeat(" ", 65535)
	headHeldBack = "GET /graphql HTTP/1.1\r\nHost: localhost\r\n" + strings.Repeat("X-Filler: "+strings.Repeat("x", 1000)+"\r\n", 79)
)

// holdConnections opens connections until the test ends, and sends held over each.
func holdConnections(t *testing.T, address string, connections int, held string) {
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for range connections / 8 {
				conn, err := net.Dial("tcp", address)
				if err != nil {
					t.Error(err)
					return
				}
				t.Cleanup(func() { _ = conn.Close() })
				_ = conn.SetWriteDeadline(time.Now().Add(time.Second)) // what the server does not take costs it nothing
				_, _ = io.WriteString(conn, held)                      // it may hang up
			}
		})
	}
	group.Wait()
}

// holdStreams sends bodies over HTTP/2, as many at a time over each of 20 connections as the server
// allows.
func holdStreams(t *testing.T, address string) {
	ctx, cancel := context.WithCancel(t.Context())
	var group, sent sync.WaitGroup
	for range 20 {
		client := &http.Transport{Protocols: &http.Protocols{}}
		client.Protocols.SetUnencryptedHTTP2(true)
		t.Cleanup(client.CloseIdleConnections)
		for range 100 {
			sent.Add(1)
			body := &heldBody{left: 65535, ctx: ctx, sent: sync.OnceFunc(sent.Done)}
			group.Go(func() {
				defer body.sent()
				request, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+address+"/graphql", body)
				if err != nil {
					t.Error(err)
					return
				}
				request.Header.Set("Content-Type", "application/json")
				if response, err := client.RoundTrip(request); err == nil { // or the server hung up, or the test is over
					_ = response.Body.Close()
				}
			})
		}
	}
	sent.Wait()
	t.Cleanup(func() { cancel(); group.Wait() })
}

// heldBody is a body that does not end before its context does.
type heldBody struct {
	left int
	ctx  context.Context
	sent func()
}

// Read implements [io.Reader].
func (b *heldBody) Read(p []byte) (int, error) {
	if b.left == 0 {
		b.sent()
		<-b.ctx.Done()
		return 0, io.EOF
	}
	n := min(b.left, len(p))
	for i := range p[:n] {
		p[i] = ' '
	}
	b.left -= n
	return n, nil
}

// peakOf returns the most memory that a server's process used, in bytes.
func peakOf(t *testing.T, s *server) int {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.process.Process.Pid))
	if err != nil {
		t.Skip("left out: the memory of a process: this system has no /proc to see it in")
	}
	_, after, _ := strings.Cut(string(text), "VmHWM:")
	kilobytes := must.Get(strconv.Atoi(strings.Fields(after)[0]))(t)
	return kilobytes << 10
}

// The program bounds what one connection may request at a time. It closes one that leaves more
// unread than --max-unsent while others are answered.
func TestMaxUnsent(t *testing.T) {
	t.Parallel()
	s := startServer(t, append(onTable(t), "--max-unsent", "65536")...)
	conn, err := net.Dial("tcp", strings.TrimPrefix(s.address, "http://"))
	must.Do(t, err)
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(15 * time.Second)); err != nil { // well below the time limit of a stalled answer
		t.Fatal(err)
	}
	must.Get(io.WriteString(conn, http2.ClientPreface))(t)
	framer := http2.NewFramer(conn, conn)
	must.Do(t, framer.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 0}))
	frame, err := framer.ReadFrame()
	must.Do(t, err)
	settings, ok := frame.(*http2.SettingsFrame)
	if !ok {
		t.Fatalf("%v, want settings first", frame)
	}
	if streams, _ := settings.Value(http2.SettingMaxConcurrentStreams); streams != 100 {
		t.Errorf("%d requests at a time, want 100", streams)
	}
	var head bytes.Buffer
	encoder := hpack.NewEncoder(&head)
	for stream := uint32(1); err == nil && stream < 200; stream += 2 {
		head.Reset()
		for _, field := range [][2]string{{":method", "GET"}, {":scheme", "http"}, {":authority", "localhost"}, {":path", "/graphql?query={__typename}"}} {
			must.Do(t, encoder.WriteField(hpack.HeaderField{Name: field[0], Value: field[1]}))
		}
		err = framer.WriteHeaders(http2.HeadersFrameParam{StreamID: stream, BlockFragment: head.Bytes(), EndStream: true, EndHeaders: true})
	}
	for err == nil { // until the server hangs up
		_, err = framer.ReadFrame()
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		t.Error("the server does not hang up")
	}
	if got := post(t, s.address, operation("{ __typename }", nil)); got.status != http.StatusOK {
		t.Errorf("others are answered %d: %s", got.status, got.body)
	}
}
