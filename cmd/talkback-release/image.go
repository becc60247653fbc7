package main

import (
	"bytes"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"golang.org/x/crypto/x509roots/fallback/bundle"
)

const (
	// maxImage bounds the download size of an image, in bytes.
	maxImage = 40e6
	// imageUser is the user and group: numeric, so that Kubernetes sees that it is not root.
	imageUser = "65532:65532"
	// programPath is the path of the program in an image.
	programPath = "usr/bin/talkback"
)

// image writes the container image for all systems, as an archive in the OCI layout.
func (r *release) image(builds []build, scratch string) error {
	if len(builds) == 0 {
		return nil
	}
	index := mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	for _, b := range builds {
		image, err := r.imageOf(b)
		if err != nil {
			return err
		}
		index = mutate.AppendManifests(index, mutate.IndexAddendum{
			Add: image, Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: b.os, Architecture: b.arch}},
		})
	}
	folder := filepath.Join(scratch, "image")
	path, err := layout.Write(folder, empty.Index)
	if err != nil {
		return err
	}
	name := "docker.io/talkback/talkback:" + r.tag()
	if err := path.AppendIndex(index, layout.WithAnnotations(map[string]string{
		"io.containerd.image.name": name, "org.opencontainers.image.ref.name": r.tag(),
	})); err != nil {
		return err
	}
	files, err := filesOf(folder)
	if err != nil {
		return err
	}
	return create(r.name("image.tar"), func(to io.Writer) error { return r.writeTar(to, "", files) })
}

// tag returns the version as a tag, which may not contain a plus.
func (r *release) tag() string {
	return strings.ReplaceAll(r.version, "+", "-")
}

// imageOf returns the image of one system: the program and the files that it reads alone.
func (r *release) imageOf(b build) (v1.Image, error) {
	base, err := r.baseFiles()
	if err != nil {
		return nil, err
	}
	licences, err := r.copyright(b.notices)
	if err != nil {
		return nil, err
	}
	base = append(base, file{"usr/share/doc/talkback/copyright", licences, 0o644})
	program, err := os.ReadFile(b.path)
	if err != nil {
		return nil, err
	}
	image := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	for _, files := range [][]file{base, {{programPath, program, 0o755}}} {
		layer, err := r.layer(files)
		if err != nil {
			return nil, err
		}
		if image, err = mutate.AppendLayers(image, layer); err != nil {
			return nil, err
		}
	}
	if image, err = mutate.ConfigFile(image, r.config(image, b)); err != nil {
		return nil, err
	}
	return image, checkImage(image, b)
}

func (r *release) config(image v1.Image, b build) *v1.ConfigFile {
	file, _ := image.ConfigFile() // the image is in memory
	file = file.DeepCopy()
	file.OS, file.Architecture, file.Created = b.os, b.arch, v1.Time{Time: r.time}
	for i := range file.History {
		file.History[i] = v1.History{Created: v1.Time{Time: r.time}, CreatedBy: "talkback-release"}
	}
	file.Config = v1.Config{
		User: imageUser, WorkingDir: "/", Entrypoint: []string{"/" + programPath}, Cmd: []string{"serve"},
		Env:          []string{"PATH=/usr/bin", "TALKBACK_LISTEN=0.0.0.0:8080", "TALKBACK_LOG_FORMAT=json", "ZONEINFO=/usr/share/zoneinfo.zip"},
		ExposedPorts: map[string]struct{}{"8080/tcp": {}},
		Healthcheck:  &v1.HealthConfig{Test: []string{"CMD", "/" + programPath, "health"}},
		Labels: map[string]string{
			"org.opencontainers.image.title": "talkback", "org.opencontainers.image.version": r.version, "org.opencontainers.image.licenses": b.notices.expression(),
		},
	}
	return file
}

// baseFiles returns the certificates of authorities, Go's time zones, and a name for the user.
func (r *release) baseFiles() ([]file, error) {
	var certificates bytes.Buffer
	for root := range bundle.Roots() {
		if root.Constraint != nil {
			continue // its constraint cannot be expressed in a file
		}
		if err := pem.Encode(&certificates, &pem.Block{Type: "CERTIFICATE", Bytes: root.Certificate}); err != nil {
			return nil, err
		}
	}
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return nil, err
	}
	zones, err := os.ReadFile(filepath.Join(string(bytes.TrimSpace(root)), "lib", "time", "zoneinfo.zip"))
	if err != nil {
		return nil, err
	}
	return []file{
		{"etc/passwd", []byte("talkback:x:65532:65532::/:/nonexistent\n"), 0o644},
		{"etc/ssl/certs/ca-certificates.crt", certificates.Bytes(), 0o644},
		{"usr/share/zoneinfo.zip", zones, 0o644},
	}, nil
}

func (r *release) layer(files []file) (v1.Layer, error) {
	var archive bytes.Buffer
	if err := r.writeTar(&archive, "", files); err != nil {
		return nil, err
	}
	return tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(archive.Bytes())), nil },
		tarball.WithMediaType(types.OCILayer), tarball.WithCompressedCaching)
}

func checkImage(image v1.Image, b build) error {
	layers, err := image.Layers()
	if err != nil {
		return err
	}
	var all int64
	for _, layer := range layers {
		size, err := layer.Size()
		if err != nil {
			return err
		}
		all += size
	}
	log.Printf("image for %s/%s: %.1f MB", b.os, b.arch, float64(all)/1e6)
	if all > maxImage {
		return fmt.Errorf("for %s/%s it has %.1f MB, more than the limit of %.0f", b.os, b.arch, float64(all)/1e6, maxImage/1e6)
	}
	return nil
}
