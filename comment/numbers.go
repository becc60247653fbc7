package comment

// The number of pages on either side of a page that it links to.
const (
	// DefaultAround is the number of pages on either side unless another is requested.
	DefaultAround = 2
	// MaxAround is the highest number.
	MaxAround = 10
)

// MaxVotedRank bounds the comments with helpful votes that are read to find a page by its number,
// or the number of a page.
const MaxVotedRank = 1024

// Numbering says which page numbers and links to look up along with a page.
type Numbering struct {
	// Count asks how many pages the list has.
	Count bool
	// Number asks for the number of the page.
	Number bool
	// Links asks where other pages begin: the first, the previous, the next and the last, and Around
	// pages on either side, 0 to MaxAround.
	Links  bool
	Around int
}

// Asks reports whether any page number or link is requested.
func (n Numbering) Asks() bool { return n.Count || n.Number || n.Links }

// Numbered has the page numbers of a list, as far as they are known.
type Numbered struct {
	// Counted is whether the list was counted. Total is how many comments it has, Pages how many
	// pages these fill.
	Counted      bool
	Total, Pages int
	// Page is the number of the page itself, from 1; 0 unless it was requested.
	Page int
	// Starts maps the number of a page, from 2, to the place behind which the page begins. Page 1
	// begins with the list.
	Starts map[int]Place
	// Unknown is why Page and Starts alone are unknown, nil if they are known.
	Unknown error
	// Unlinked is why the start of a neighbouring page is unknown, nil if all are known.
	Unlinked error
	// Err is why all of this is unknown, nil if it is known.
	Err error
}

// PageLink is where a page begins.
type PageLink struct {
	// Page is the number of the page, from 1.
	Page int
	// After is the place behind which the page begins, nil at the beginning of the list.
	After *Place
	// IsCurrent is whether it is the page that has the links.
	IsCurrent bool
}

// PageLinks lead from a page to others. A link is nil where there is no such page.
type PageLinks struct {
	// First and Last are the ends of the list, Previous and Next the neighbours.
	First, Previous, Next, Last *PageLink
	// Around are the page and those close to it, by number.
	Around []PageLink
}

// Pages returns how many pages of the given size the total number of comments fills.
func Pages(total, size int) int {
	if size == 0 {
		return 0
	}
	return (total + size - 1) / size
}

// LinkedPages returns the numbers of the pages that a page links to, ascending, each once; its own
// is one of them unless the page is beyond the last.
func LinkedPages(page, pages, around int) []int {
	var out []int
	add := func(number int) {
		if number >= 1 && number <= pages && (len(out) == 0 || number > out[len(out)-1]) {
			out = append(out, number)
		}
	}
	add(1)
	reach := max(around, 1)
	for number := min(page, pages) - reach; number <= page+reach && number < pages; number++ {
		add(number)
	}
	add(pages)
	return out
}

// Links returns the links of the page. around is how many neighbours it links to on either side.
func (n Numbered) Links(around int) PageLinks {
	last := min(n.Page, n.Pages) // a page beyond the last has the links of the last
	links := PageLinks{
		First: n.link(1), Previous: n.link(min(n.Page-1, n.Pages)), Next: n.link(n.Page + 1), Last: n.link(n.Pages),
	}
	for page := last - around; page <= last+around; page++ {
		if link := n.link(page); link != nil {
			links.Around = append(links.Around, *link)
		}
	}
	return links
}

// link returns the link to a page, nil if there is none.
func (n Numbered) link(page int) *PageLink {
	link := PageLink{Page: page, IsCurrent: page == n.Page}
	if page < 1 || page > n.Pages {
		return nil
	}
	if page == 1 {
		return &link
	}
	start, known := n.Starts[page]
	if !known {
		return nil // the list became shorter while its pages were looked up
	}
	link.After = &start
	return &link
}
