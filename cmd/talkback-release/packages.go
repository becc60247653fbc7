package main

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"

	"github.com/goreleaser/nfpm/v2"
	"github.com/goreleaser/nfpm/v2/deb"
	"github.com/goreleaser/nfpm/v2/files"
	"github.com/goreleaser/nfpm/v2/rpm"
)

// installPaths has the places of files in packages. A name occurs twice if the packages differ.
var installPaths = []struct{ name, path, packager string }{
	{"LICENSE", "/usr/share/doc/talkback/copyright", ""},
	{"README.md", "/usr/share/doc/talkback/README.md", ""},
	{"talkback.1", "/usr/share/man/man1/talkback.1.gz", ""},
	{"completions/talkback.bash", "/usr/share/bash-completion/completions/talkback", ""},
	{"completions/talkback.zsh", "/usr/share/zsh/vendor-completions/_talkback", "deb"},
	{"completions/talkback.zsh", "/usr/share/zsh/site-functions/_talkback", "rpm"},
	{"completions/talkback.fish", "/usr/share/fish/vendor_completions.d/talkback.fish", ""},
}

// packages writes the packages for Debian, Red Hat, and related systems.
func (r *release) packages(b build, common []file) error {
	scratch, err := os.MkdirTemp("", "talkback-release-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch)
	contents, err := r.contents(b, common, scratch)
	if err != nil {
		return err
	}
	for _, kind := range []struct {
		ending, needs string
		packager      nfpm.Packager
	}{{"deb", "passwd", deb.Default}, {"rpm", "shadow-utils", rpm.DefaultRPM}} {
		info := r.info(b)
		info.Contents, info.Depends = contents, []string{kind.needs} // for useradd
		if err := nfpm.PrepareForPackager(info, kind.ending); err != nil {
			return err
		}
		if err := create(r.name(b.os, b.arch)+"."+kind.ending, func(to io.Writer) error { return kind.packager.Package(info, to) }); err != nil {
			return err
		}
	}
	return nil
}

// contents returns the files of packages. It writes generated ones to a scratch folder.
func (r *release) contents(b build, common []file, scratch string) (files.Contents, error) {
	linux := filepath.Join(r.root, "infra", "linux")
	all := files.Contents{
		{Source: b.path, Destination: "/usr/lib/talkback/talkback", FileInfo: &files.ContentFileInfo{Mode: 0o755}},
		{Source: "../lib/talkback/talkback", Destination: "/usr/bin/talkback", Type: files.TypeSymlink},
		{Source: filepath.Join(linux, "talkback.service"), Destination: "/usr/lib/systemd/system/talkback.service", FileInfo: &files.ContentFileInfo{Mode: 0o644}},
		{Source: filepath.Join(linux, "talkback.env"), Destination: "/etc/talkback/talkback.env", Type: files.TypeConfigNoReplace, FileInfo: &files.ContentFileInfo{Mode: 0o600}},
	}
	if b.engine != "" {
		all = append(all, &files.Content{Source: b.engine, Destination: "/usr/lib/talkback/dynoxide", FileInfo: &files.ContentFileInfo{Mode: 0o755}})
	}
	for _, f := range common {
		from := filepath.Join(scratch, filepath.Base(f.name))
		content := f.content
		switch f.name {
		case "LICENSE":
			var err error
			if content, err = r.copyright(b.notices); err != nil {
				return nil, err
			}
		case "talkback.1":
			content = zipped(content)
		}
		if err := os.WriteFile(from, content, 0o644); err != nil {
			return nil, err
		}
		for _, place := range installPaths {
			if place.name == f.name {
				all = append(all, &files.Content{Source: from, Destination: place.path, Packager: place.packager, FileInfo: &files.ContentFileInfo{Mode: 0o644}})
			}
		}
	}
	for _, c := range all {
		if c.FileInfo == nil {
			c.FileInfo = &files.ContentFileInfo{}
		}
		c.FileInfo.MTime = r.time
	}
	return all, nil
}

func (r *release) info(b build) *nfpm.Info {
	linux := filepath.Join(r.root, "infra", "linux")
	info := &nfpm.Info{
		Name: "talkback", Arch: b.arch, Platform: "linux", Version: r.version, VersionSchema: "semver", Release: "1",
		Section: "net", Priority: "optional", Maintainer: "Talkback", License: b.notices.expression(), MTime: r.time,
		Description: "Product reviews and comments as a data service\nA GraphQL API over one DynamoDB table, with pages for a shop.",
	}
	info.Scripts = nfpm.Scripts{
		PostInstall: filepath.Join(linux, "after-install.sh"),
		PreRemove:   filepath.Join(linux, "before-remove.sh"),
	}
	info.RPM.BuildHost = "localhost"
	return nfpm.WithDefaults(info)
}

func zipped(content []byte) []byte {
	var to bytes.Buffer
	out := gzip.NewWriter(&to)
	_, _ = out.Write(content) // to memory
	_ = out.Close()
	return to.Bytes()
}
