package objects

import (
	"bufio"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/pageindex"
)

// Bounds of a sort.
const (
	// runItems is how many items are sorted in memory at a time.
	runItems = 1 << 17
	// frameItems is how many of them are read back at a time.
	frameItems = 1 << 9
	// maxRuns is how many files are merged at a time.
	maxRuns = 64
)

// Sorter sorts items by key, even more than fit into memory: it writes sorted files into a folder
// and merges them. It keeps the latest item of each key.
type Sorter struct {
	// Folder must exist. The caller deletes it in the end.
	Folder string
	// Items is how many items are sorted in memory.
	Items int

	items []Item
	runs  []string
	made  int
}

// Add adds items.
func (s *Sorter) Add(items []Item) error {
	for part := range slices.Chunk(items, s.Items) {
		s.items = append(s.items, part...)
		if len(s.items) >= s.Items {
			if err := s.spill(); err != nil {
				return err
			}
		}
	}
	return nil
}

// All yields all items in order. It stops at the first error.
func (s *Sorter) All() iter.Seq2[Item, error] {
	return func(yield func(Item, error) bool) {
		if err := s.spill(); err != nil {
			yield(Item{}, err)
			return
		}
		mergeRuns(s.runs)(yield)
	}
}

// spill writes the items in memory to a file, and merges the files once there are maxRuns.
func (s *Sorter) spill() error {
	if len(s.items) == 0 {
		return nil
	}
	err := s.run(func(yield func(Item, error) bool) {
		for _, item := range latestSorted(s.items) {
			if !yield(item, nil) {
				return
			}
		}
	})
	s.items = s.items[:0]
	if err != nil || len(s.runs) < maxRuns {
		return err
	}
	old := s.runs
	s.runs = nil
	if err := s.run(mergeRuns(old)); err != nil {
		return err
	}
	for _, name := range old {
		err = errors.Join(err, os.Remove(name))
	}
	return err
}

// run writes one sorted file.
func (s *Sorter) run(items iter.Seq2[Item, error]) error {
	name := filepath.Join(s.Folder, fmt.Sprintf("run-%d", s.made))
	s.made++
	file, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	var frame []Item
	flush := func() error {
		_, err := file.Write(encodeFrame(frame))
		frame = frame[:0]
		return err
	}
	for item, failed := range items {
		if err = failed; err == nil {
			if frame = append(frame, item); len(frame) == frameItems {
				err = flush()
			}
		}
		if err != nil {
			break
		}
	}
	if err == nil && len(frame) > 0 {
		err = flush()
	}
	s.runs = append(s.runs, name)
	return errors.Join(err, file.Close())
}

// mergeRuns merges sorted files, and yields the latest item of each key, in order. It compares all
// files for each item: there are at most maxRuns. It stops at the first error.
func mergeRuns(names []string) iter.Seq2[Item, error] {
	return func(yield func(Item, error) bool) {
		var runs []*run
		for _, name := range names {
			file, err := os.Open(name)
			if err == nil {
				defer func() { _ = file.Close() }() // it was only read
				runs = append(runs, &run{from: bufio.NewReaderSize(file, 1<<16)})
				err = runs[len(runs)-1].next()
			}
			if err != nil {
				yield(Item{}, err)
				return
			}
		}
		for {
			runs = slices.DeleteFunc(runs, func(r *run) bool { return len(r.items) == 0 })
			if len(runs) == 0 {
				return
			}
			item := slices.MinFunc(runs, func(a, b *run) int { return a.items[0].Compare(b.items[0].Key) }).items[0]
			var err error
			for _, r := range runs {
				if r.items[0].Key == item.Key {
					item, r.items = later(item, r.items[0]), r.items[1:]
					err = cmp.Or(err, r.next())
				}
			}
			if !yield(item, err) || err != nil {
				return
			}
		}
	}
}

// run is a sorted file that is being read.
type run struct {
	from  *bufio.Reader
	items []Item // none at its end
}

// next reads further items unless some are left.
func (r *run) next() error {
	if len(r.items) > 0 {
		return nil
	}
	head, err := r.from.Peek(frameHead)
	if errors.Is(err, io.EOF) && len(head) == 0 {
		return nil
	}
	if err != nil {
		return err
	}
	frame := make([]byte, frameHead+int(binary.BigEndian.Uint32(head)))
	if _, err := io.ReadFull(r.from, frame); err != nil {
		return err
	}
	r.items, err = decodeFrame(frame)
	return err
}

// sortedAtOnce is how many comments are sorted in memory at a time, in some 2 MB.
const sortedAtOnce = 1 << 14

// Sorted takes the comments of a table in any order, and passes them on product by product. It
// keeps most of them in temporary files. Close it in the end.
type Sorted struct{ sorter Sorter }

// NewSorted returns an empty Sorted with a temporary folder.
func NewSorted() (*Sorted, error) {
	folder, err := scratch("", "talkback-verify-")
	return &Sorted{Sorter{Folder: folder, Items: sortedAtOnce}}, err
}

// scratch makes a folder for temporary files in another one, or in that of the system if in is
// empty. The error then names the cure.
func scratch(in, pattern string) (string, error) {
	folder, err := os.MkdirTemp(in, pattern)
	if in == "" {
		err = unwritten(err)
	}
	return folder, err
}

// unwritten adds the cure to an error of temporary files, and leaves nil as it is.
func unwritten(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("temporary files cannot be written (%w): set TMPDIR to a folder with room that this user may write to", err)
}

// Close deletes the files.
func (s *Sorted) Close() error { return os.RemoveAll(s.sorter.Folder) }

// Add adds a comment.
func (s *Sorted) Add(product string, cell comment.Cell, at comment.Position) error {
	items, err := itemsOf([]pageindex.Entry{{Product: product, Position: at, Cell: &cell}}, time.Time{})
	return errors.Join(err, unwritten(s.sorter.Add(items)))
}

// Each calls do for each product, ordered by id, with the places of all its comments. It stops at
// the first error.
func (s *Sorted) Each(do func(product string, places pageindex.Places) error) error {
	product, places := "", pageindex.Places{}
	for item, err := range s.sorter.All() {
		if err != nil {
			return unwritten(err)
		}
		if item.Product != product && len(places) > 0 {
			if err := do(product, places); err != nil {
				return err
			}
			places = pageindex.Places{}
		}
		product = item.Product
		places.Add(item.Cell, item.Position)
	}
	if len(places) == 0 {
		return nil
	}
	return do(product, places)
}
