package restore

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/md5"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"

	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/internal/output"
)

// longestLine bounds a line. An item has at most 400 KB, and up to six times as much in JSON.
const longestLine = 4 << 20

// Each calls use for each item, file after file, and returns the first error. It also returns an
// error if a file does not match the manifest; by then, use has seen some of its items.
func (e *Export) Each(ctx context.Context, use func(layout.Item) error) error {
	for _, f := range e.files {
		if err := e.readFile(ctx, f, use); err != nil {
			return err
		}
	}
	return nil
}

// readFile reads a data file. It verifies the checksum and not the entity tag, which a copy of the
// file changes.
func (e *Export) readFile(ctx context.Context, f file, use func(layout.Item) error) error {
	name := path.Join("data", path.Base(f.Key)) // the prefix may have changed since the export
	body := &steady{ctx: ctx, place: e.place, name: path.Join(e.dir, name)}
	defer body.close()
	sum := md5.New()
	stored := io.TeeReader(body, sum)
	count, used, err := eachLine(ctx, stored, use)
	if used != nil {
		return used
	}
	if _, drained := io.Copy(io.Discard, stored); drained != nil {
		err = drained
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%s is missing from %s: copy the whole folder, or export again", name, e)
	case body.failed != nil:
		return body.failed
	case base64.StdEncoding.EncodeToString(sum.Sum(nil)) != f.MD5:
		return fmt.Errorf("%s in %s is damaged or cut off, because it does not have the checksum in %s: copy it again, or export again", name, e, filesName)
	case err != nil:
		return fmt.Errorf("%s in %s has the checksum in %s, but cannot be read: %w; export again", name, e, filesName, err)
	case count != f.ItemCount:
		return fmt.Errorf("%s in %s has %s, but %s says %d: export again", name, e, output.Count(count, "item", "items"), filesName, f.ItemCount)
	}
	return nil
}

// eachLine reads compressed lines. used is the error of use or of the context.
func eachLine(ctx context.Context, stored io.Reader, use func(layout.Item) error) (count int64, used, err error) {
	zip, err := gzip.NewReader(bufio.NewReaderSize(stored, 64<<10))
	if err == io.EOF { // of an empty partition
		return 0, nil, nil
	}
	if err != nil {
		return 0, nil, err
	}
	lines := bufio.NewScanner(zip)
	lines.Buffer(nil, longestLine)
	blank := 0 // bytes since the last item
	for lines.Scan() {
		if len(bytes.TrimSpace(lines.Bytes())) == 0 {
			if blank += len(lines.Bytes()) + 1; blank > longestLine {
				return count, nil, errors.New("it has too many blank lines")
			}
			continue
		}
		count, blank = count+1, 0
		it, err := itemOf(lines.Bytes())
		if err != nil {
			return count, nil, fmt.Errorf("line %d: %w", count, err)
		}
		if err := errors.Join(ctx.Err(), use(it)); err != nil {
			return count, err, nil
		}
	}
	return count, nil, lines.Err()
}

// itemOf parses a line such as {"Item":{"PK":{"S":"C#01K9..."}}}. Its error contains nothing of the
// line.
func itemOf(line []byte) (layout.Item, error) {
	var in struct{ Item json.RawMessage }
	if json.Unmarshal(line, &in) != nil || len(in.Item) == 0 {
		return nil, errors.New("it is not an item")
	}
	it, err := attributevalue.UnmarshalMapJSON(in.Item)
	if err != nil || len(it) == 0 {
		return nil, errors.New("it is not an item in DynamoDB JSON")
	}
	return it, nil
}

// steady reads a file, and resumes where it stopped when a connection breaks.
type steady struct {
	ctx    context.Context
	place  place
	name   string
	body   io.ReadCloser
	offset int64
	breaks int   // since the last byte
	failed error // the final error, after too many breaks
}

// mostBreaks is how often in a row a connection may break without delivering a byte.
const mostBreaks = 5

// Read implements io.Reader.
func (s *steady) Read(p []byte) (n int, err error) {
	for {
		if s.body == nil {
			if s.body, err = s.place.open(s.ctx, s.name, s.offset); err != nil {
				s.failed = err
				return 0, err
			}
		}
		n, err = s.body.Read(p)
		s.offset += int64(n)
		if err == nil || err == io.EOF {
			return n, err
		}
		s.close()
		if n > 0 {
			s.breaks = 0
			return n, nil
		}
		if s.breaks++; s.breaks == mostBreaks || s.ctx.Err() != nil {
			s.failed = fmt.Errorf("%s in %s cannot be read: %w", s.name, s.place, err)
			return 0, s.failed
		}
	}
}

// close closes the open body, if any.
func (s *steady) close() {
	if s.body != nil {
		_ = s.body.Close() // it was only read
		s.body = nil
	}
}
