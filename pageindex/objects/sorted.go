package objects

import (
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/pageindex"
)

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
