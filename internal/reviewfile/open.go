package reviewfile

import (
	"bufio"
	"compress/flate"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sync/atomic"

	"github.com/talkback/talkback/internal/fetch"
)

// StandardInput is the name that means standard input.
const StandardInput = "-"

// Named returns the name of a file for messages.
func Named(name string) string {
	if name == StandardInput {
		return "standard input"
	}
	return name
}

// Source is an open file. It reads the decompressed content.
type Source struct {
	io.Reader
	// Size is the size of the stored file in bytes, -1 if unknown.
	Size int64

	file  io.Closer
	info  fs.FileInfo // nil if unknown, as for a pipe inside the process
	taken atomic.Int64
}

// Open opens a file, or standard input if the name is "-". It decompresses gzip.
func Open(name string, stdin io.Reader) (*Source, error) {
	s := &Source{Size: -1}
	stored := stdin
	if name != StandardInput {
		file, err := os.Open(name)
		if err != nil {
			return nil, unreadable(name, err)
		}
		s.file, stored = file, file
	}
	if file, ok := stored.(*os.File); ok {
		s.info, _ = file.Stat() // on an error, Is returns false
	}
	if name != StandardInput && s.info != nil && s.info.Mode().IsRegular() {
		s.Size = s.info.Size()
	}
	if err := s.unpack(stored); err != nil {
		return nil, errors.Join(unreadable(name, err), s.Close())
	}
	return s, nil
}

func unreadable(name string, err error) error {
	if _, ok := errors.AsType[*fs.PathError](err); ok {
		return fetch.Unreadable(quoted(name), err)
	}
	return fmt.Errorf("%s cannot be read: %w", quoted(name), err)
}

// Is reports whether the source is a given file, under any name, even through standard input.
func (s *Source) Is(file fs.FileInfo) bool { return s.info != nil && os.SameFile(s.info, file) }

func (s *Source) unpack(stored io.Reader) error {
	buffered := bufio.NewReader(&storedReader{stored, s})
	s.Reader = buffered
	first, err := buffered.Peek(2)
	if err != nil && err != io.EOF {
		return err
	}
	if string(first) != "\x1f\x8b" {
		return nil
	}
	zip, err := gzip.NewReader(buffered)
	s.Reader = unpacked{zip}
	return damaged(err)
}

// unpacked reads compressed data. Its errors name the cure.
type unpacked struct{ *gzip.Reader }

// Read implements io.Reader.
func (u unpacked) Read(p []byte) (int, error) {
	n, err := u.Reader.Read(p)
	return n, damaged(err)
}

// damaged adds the cure to an error of compressed data. It returns any other error unchanged.
func damaged(err error) error {
	_, corrupt := errors.AsType[flate.CorruptInputError](err)
	if corrupt || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, gzip.ErrHeader) || errors.Is(err, gzip.ErrChecksum) {
		return fmt.Errorf("its compressed data is damaged or cut off (%w): copy it again, or make it anew", err)
	}
	return err
}

// Taken returns how many bytes of the stored file were read, even while another goroutine reads.
func (s *Source) Taken() int64 { return s.taken.Load() }

// Close closes the file. It leaves standard input open.
func (s *Source) Close() error {
	if s.file == nil {
		return nil
	}
	return s.file.Close()
}

// storedReader reads the stored bytes of a file.
type storedReader struct {
	io.Reader
	of *Source
}

// Read implements io.Reader. At the end of a file whose size has changed since it was opened, it
// returns an error: the last row may be incomplete, and more may follow.
func (r *storedReader) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	taken := r.of.taken.Add(int64(n))
	if size := r.of.Size; err == io.EOF && size > 0 && taken != size { // some file systems report every size as 0
		err = fmt.Errorf("it had %d bytes when it was opened, and has %d now: wait until it is written, and run it again", size, taken)
	}
	return n, err
}
