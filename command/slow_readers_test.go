package command_test

import (
	"bytes"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// The program bounds what one connection may request at a time. It closes one that leaves more
// unread than --max-unsent while others are answered.
func TestMaxUnsent(t *testing.T) {
	t.Parallel()
	s := startServer(t, append(onTable(t), "--max-unsent", "65536")...)
	conn, err := net.Dial("tcp", strings.TrimPrefix(s.address, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(15 * time.Second)); err != nil { // well below the time limit of a stalled answer
		t.Fatal(err)
	}
	if _, err := io.WriteString(conn, http2.ClientPreface); err != nil {
		t.Fatal(err)
	}
	framer := http2.NewFramer(conn, conn)
	if err := framer.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 0}); err != nil {
		t.Fatal(err)
	}
	frame, err := framer.ReadFrame()
	if err != nil {
		t.Fatal(err)
	}
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
			if err := encoder.WriteField(hpack.HeaderField{Name: field[0], Value: field[1]}); err != nil {
				t.Fatal(err)
			}
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
