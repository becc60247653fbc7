package objects

import (
	"errors"
	"os"
	"time"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/pageindex"
)

// sortedAtOnce is how many comments are sorted in memory, in some 2 MB.
const sortedAtOnce = 1 << 14

// Sorted takes the comments of a table in any order, and hands them on product by product. It holds
// few of them: the others are in files. Close it in the end.
type Sorted struct{ sorter Sorter }

// NewSorted returns an empty one, whose files are in a temporary folder.
func NewSorted() (*Sorted, error) {
	folder, err := os.MkdirTemp("", "talkback-verify-")
	return &Sorted{Sorter{Folder: folder, Items: sortedAtOnce}}, err
}

// Close deletes the files.
func (s *Sorted) Close() error { return os.RemoveAll(s.sorter.Folder) }

// Add notes a comment.
func (s *Sorted) Add(product string, cell comment.Cell, at comment.Position) error {
	items, err := itemsOf([]pageindex.Entry{{Product: product, Position: at, Cell: &cell}}, time.Time{})
	return errors.Join(err, s.sorter.Add(items))
}

// Each hands on the products by name, each with the places of all its comments. It ends with the
// first error.
func (s *Sorted) Each(do func(product string, places pageindex.Places) error) error {
	product, places := "", pageindex.Places{}
	for item, err := range s.sorter.All() {
		if err != nil {
			return err
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
