package dynamotest

import (
	"context"
	"fmt"
	"net/http"
	"net/netip"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/talkback/talkback/internal/engine"
	"github.com/talkback/talkback/internal/provisiontest"
)

// The engines of this test process.
var (
	dynoxide      = server{run: startDynoxide}
	dynamoDBLocal = server{run: startDynamoDBLocal}
)

// stopWithin is the time that DynamoDB Local has to end before it is killed. Its data is in memory
// only.
const stopWithin = 2 * time.Second

// startDynoxide runs Dynoxide as the program does. Without the index that package engine keeps on
// its stream records, each test that writes much would slow down the tests after it.
func startDynoxide(ctx context.Context, folder string) (process, string, error) {
	path, err := provisiontest.FindDynoxide()
	if err != nil {
		return nil, "", err
	}
	running, err := engine.Start(ctx, engine.Options{Folder: folder, Binary: path, Owner: "a test"})
	if err != nil {
		return nil, "", err
	}
	return running, running.Endpoint(), nil
}

// startDynamoDBLocal runs DynamoDB Local in memory, without its reports of use to Amazon. The
// smaller garbage collector and the first compiler alone make it start faster, and leave memory and
// processors to the other tests.
func startDynamoDBLocal(ctx context.Context, folder string) (process, string, error) {
	port, err := engine.FreePort(netip.IPv4Unspecified()) // it listens on every address
	if err != nil {
		return nil, "", err
	}
	programs, err := provisiontest.Find("the DynamoDB Local suite", ".cache/dynamodb-local")
	if err != nil {
		return nil, "", err
	}
	java, err := exec.LookPath("java")
	if err != nil {
		return nil, "", fmt.Errorf("the DynamoDB Local suite: java is not on PATH; %w", provisiontest.ErrNotInstalled)
	}
	running, err := engine.StartChild(engine.Command{Path: java, Args: []string{
		"-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xmx1g",
		"-Djava.library.path=" + programs, "-cp", filepath.Join(programs, "*"),
		"com.amazonaws.services.dynamodbv2.local.main.ServerRunner",
		"-inMemory", "-sharedDb", "-disableTelemetry", "-port", fmt.Sprint(port),
	}, Log: filepath.Join(folder, "log")})
	if err != nil {
		return nil, "", err
	}
	url := fmt.Sprintf("http://127.0.0.1:%d", port)
	return local{running}, url, running.Ready(ctx, func(ctx context.Context) bool { return answers(ctx, url) })
}

// local is the process of DynamoDB Local.
type local struct{ *engine.Child }

// Stop ends the process.
func (l local) Stop() error { return l.Child.Stop(stopWithin) }

// answers reports whether an engine speaks HTTP yet. DynamoDB Local answers a bare GET with an
// error, which counts.
func answers(ctx context.Context, url string) bool {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return false
	}
	response, err := probeClient.Do(request)
	if err != nil {
		return false
	}
	response.Body.Close()
	return true
}

// probeClient keeps no idle connection, which a test for leaked goroutines would find.
var probeClient = &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
