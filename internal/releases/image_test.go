package releases

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/internal/dynamotest"
	"github.com/talkback/talkback/internal/provisiontest"
	"github.com/talkback/talkback/internal/servertest"
)

// descriptor points at a blob of the image.
type descriptor struct {
	Digest   string
	Platform struct{ Architecture string }
}

// runReadOnly runs a program of a root folder, which is read only, as a user of a container.
const runReadOnly = `mount --bind "$0" "$0" && mount -o remount,bind,ro "$0" && user=$1 && shift && exec chroot --userspec="$user" "$0" "$@"`

// The image holds a program that starts as its user with a root that is read only, and that its
// health check finds healthy.
func ofImage(t *testing.T, content []byte) {
	blobs := map[string][]byte{}
	for head, blob := range members(t, bytes.NewReader(content)) {
		blobs[head.Name] = blob
	}
	var index, platforms struct{ Manifests []descriptor }
	parse(t, blobs["index.json"], &index)
	blob := func(digest string) []byte {
		algorithm, sum, _ := strings.Cut(digest, ":")
		return blobs["blobs/"+algorithm+"/"+sum]
	}
	parse(t, blob(index.Manifests[0].Digest), &platforms)
	var manifest struct {
		Config descriptor
		Layers []descriptor
	}
	parse(t, blob(platforms.Manifests[0].Digest), &manifest)
	var config struct {
		Config struct {
			User        string
			Entrypoint  []string
			Healthcheck struct{ Test []string }
		}
	}
	parse(t, blob(manifest.Config.Digest), &config)
	root := t.TempDir()
	for _, layer := range manifest.Layers {
		zipped := must.Get(gzip.NewReader(bytes.NewReader(blob(layer.Digest))))(t)
		unpack(t, members(t, zipped), root)
	}
	if text, err := os.ReadFile(filepath.Join(root, "etc/ssl/certs/ca-certificates.crt")); err != nil || bytes.Count(text, []byte("BEGIN CERTIFICATE")) < 50 {
		t.Errorf("the image has no certificates of authorities: %v", err)
	}

	ofLicences(t, string(must.Get(os.ReadFile(filepath.Join(root, "usr/share/doc/talkback/copyright")))(t)), "TERMS AND CONDITIONS FOR USE")

	shared := provisiontest.Program(t, "unshare", "running the image")
	contained := func(command ...string) []string {
		return append([]string{"--mount", "sh", "-c", runReadOnly, root, config.Config.User}, command...)
	}
	if said, err := exec.Command(shared, contained("/usr/bin/talkback", "--version")...).CombinedOutput(); bytes.Contains(said, []byte("ermission denied")) || bytes.Contains(said, []byte("not permitted")) {
		provisiontest.LeaveOut(t, fmt.Errorf("running the image: only root can give it a root folder: %w", err))
	}
	endpoint := dynamotest.Dynoxide(t)
	server := servertest.Start(t, shared, func(port uint16) []string {
		return contained(append(config.Config.Entrypoint, "serve", "--listen", fmt.Sprintf("127.0.0.1:%d", port),
			"--endpoint", endpoint, "--table", dynamotest.TableName(t), "--create-table")...)
	}, func(address string) bool {
		check := append(config.Config.Healthcheck.Test[1:], "--listen", address)
		return exec.Command(shared, contained(check...)...).Run() == nil
	})
	check := append(config.Config.Healthcheck.Test[1:], "--listen", server.Address())
	contains(t, run(t, shared, contained(check...)...), "ready")
	server.Stop(t)
	if said, err := exec.Command(shared, contained(check...)...).CombinedOutput(); err == nil {
		t.Errorf("a server that was stopped is healthy: %s", said)
	}
	if user, _, _ := strings.Cut(config.Config.User, ":"); strings.Trim(user, "0123456789") != "" || user == "0" {
		t.Errorf("the user is %s, not a number of another than root", user)
	}
}

// members yields the files of an archive with their heads, and refuses one that is on no image's
// path.
func members(t *testing.T, from io.Reader) iter.Seq2[*tar.Header, []byte] {
	t.Helper()
	return func(yield func(*tar.Header, []byte) bool) {
		for archive := tar.NewReader(from); ; {
			head, err := archive.Next()
			if errors.Is(err, io.EOF) {
				return
			}
			if err == nil && !fs.ValidPath(head.Name) {
				err = fmt.Errorf("the archive has a file %s", head.Name)
			}
			must.Do(t, err)
			if !yield(head, must.Get(io.ReadAll(archive))(t)) {
				return
			}
		}
	}
}

func unpack(t *testing.T, files iter.Seq2[*tar.Header, []byte], root string) {
	t.Helper()
	for head, content := range files {
		path := filepath.Join(root, head.Name)
		must.Do(t, errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, content, 0o755)))
	}
	must.Do(t, os.Chmod(root, 0o755))
}

func parse(t *testing.T, text []byte, into any) {
	t.Helper()
	if err := json.Unmarshal(text, into); err != nil {
		t.Fatalf("%v: %.200s", err, text)
	}
}
