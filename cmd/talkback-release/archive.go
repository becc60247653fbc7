package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"debug/buildinfo"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// archive writes the archive of a system: a zip for Windows, else a tar.gz.
func (r *release) archive(b build, common []file) error {
	files := append(slices.Clone(common), file{noticesFile, b.notices.text, 0o644})
	if b.os == "linux" {
		for _, name := range []string{"talkback.service", "talkback.env"} {
			content, err := os.ReadFile(filepath.Join(r.root, "infra", "linux", name))
			if err != nil {
				return err
			}
			files = append(files, file{name, content, 0o644})
		}
	}
	for name, from := range map[string]string{b.program(): b.path, "dynoxide": b.engine} {
		if from == "" {
			continue
		}
		content, err := os.ReadFile(from)
		if err != nil {
			return err
		}
		files = append(files, file{name, content, 0o755})
	}
	slices.SortFunc(files, func(a, b file) int { return strings.Compare(a.name, b.name) })
	write, ending := r.writeTarball, ".tar.gz"
	if b.os == "windows" {
		write, ending = r.writeZip, ".zip"
	}
	name := r.name(b.os, b.arch)
	return create(name+ending, func(to io.Writer) error { return write(to, filepath.Base(name), files) })
}

func (r *release) writeTarball(to io.Writer, folder string, files []file) error {
	zipped := gzip.NewWriter(to)
	return errors.Join(r.writeTar(zipped, folder, files), zipped.Close())
}

func (r *release) writeTar(to io.Writer, folder string, files []file) error {
	out := tar.NewWriter(to)
	for _, f := range files {
		if err := out.WriteHeader(&tar.Header{Name: path.Join(folder, f.name), Mode: f.mode, Size: int64(len(f.content)), ModTime: r.time}); err != nil {
			return err
		}
		if _, err := out.Write(f.content); err != nil {
			return err
		}
	}
	return out.Close()
}

func (r *release) writeZip(to io.Writer, folder string, files []file) error {
	out := zip.NewWriter(to)
	for _, f := range files {
		head := &zip.FileHeader{Name: path.Join(folder, f.name), Method: zip.Deflate, Modified: r.time}
		head.SetMode(fs.FileMode(f.mode))
		member, err := out.CreateHeader(head)
		if err != nil {
			return err
		}
		if _, err := member.Write(f.content); err != nil {
			return err
		}
	}
	return out.Close()
}

func create(name string, write func(io.Writer) error) error {
	out, err := os.Create(name)
	if err != nil {
		return err
	}
	return errors.Join(write(out), out.Close())
}

// lambda publishes the function as a zip.
func (r *release) lambda() error {
	if r.function == "" {
		return nil
	}
	program, err := os.ReadFile(r.function)
	if err != nil {
		return err
	}
	info, err := buildinfo.Read(bytes.NewReader(program))
	if err != nil {
		return err
	}
	others, err := r.noticesOf(info)
	if err != nil {
		return err
	}
	own, err := os.ReadFile(filepath.Join(r.root, "LICENSE"))
	if err != nil {
		return err
	}
	files := []file{{"LICENSE", own, 0o644}, {noticesFile, others.text, 0o644}, {"bootstrap", program, 0o755}}
	return create(r.name("lambda_arm64.zip"), func(to io.Writer) error { return r.writeZip(to, "", files) })
}

// copyOthers publishes other builds: folders as archives, files as they are.
func (r *release) copyOthers() error {
	for _, from := range r.with {
		info, err := os.Stat(from)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		if !info.IsDir() {
			content, err := os.ReadFile(from)
			if err != nil {
				return err
			}
			if err := os.WriteFile(filepath.Join(r.out, filepath.Base(from)), content, 0o644); err != nil {
				return err
			}
			continue
		}
		files, err := filesOf(from)
		if err != nil {
			return err
		}
		name := r.name(filepath.Base(from))
		if err := create(name+".tar.gz", func(to io.Writer) error { return r.writeTarball(to, filepath.Base(name), files) }); err != nil {
			return err
		}
	}
	return nil
}

// filesOf returns the files of a folder and its subfolders, sorted by name.
func filesOf(folder string) (all []file, err error) {
	err = filepath.WalkDir(folder, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := os.ReadFile(name)
		inside, _ := filepath.Rel(folder, name)
		all = append(all, file{filepath.ToSlash(inside), content, 0o644})
		return err
	})
	return all, err
}

// sum writes the checksums of all published files, in the format of sha256sum.
func (r *release) sum() error {
	files, err := filesOf(r.out)
	if err != nil {
		return err
	}
	return create(filepath.Join(r.out, "SHA256SUMS"), func(to io.Writer) error {
		for _, f := range files {
			if _, err := fmt.Fprintf(to, "%x  %s\n", sha256.Sum256(f.content), f.name); err != nil {
				return err
			}
		}
		return nil
	})
}
