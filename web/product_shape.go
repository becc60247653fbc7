package web

// view is what the template of the element shows: texts and links, all decided.
type view struct {
	Lang, Dir  string
	Summary    *summaryView
	Filters    *filterView
	Highlights []highlightView
	Result     *resultView
	List       *listView
	Empty      *noticeView
	Error      *noticeView
	Pages      *pagesView
	WritingOff bool // for all: signing in does not help
	Plan       *planView
}

// summaryView is the average and the histogram.
type summaryView struct {
	Average string // empty if there is none
	Stars   starsView
	Of      string
	Bars    []barView
}

// starsView is a row of five stars, filled in tenths.
type starsView struct {
	Tenths int
	Label  string
}

type barView struct {
	choiceView
	Max, Value int
}

// choiceView is a link that changes what is chosen.
type choiceView struct {
	Href     string
	Chosen   bool
	Label    string
	Language string // of the label, if it is the name of one
	Count    string // empty if it is not known
}

type filterView struct {
	Languages, More []choiceView
	MoreOpen        bool
	Traits          []choiceView
	Orders          []choiceView
	Dates           datesView
	Clear           string // empty if nothing is chosen
}

type datesView struct {
	Open     bool
	Action   string // where the form leads
	Hidden   []parameter
	From, To string
}

// highlightView is a comment above the list, without its id, its media and its reply.
type highlightView struct {
	Class, Heading string // the heading is the key of a text
	Comment        commentView
}

// resultView says how many comments the list has. Before and Rest stand around the number.
type resultView struct {
	Before, Number, Rest, Average string
}

type listView struct {
	Start    int // 0 if the number of the page is not known
	Comments []commentView
}

// commentView is a comment, and how it is shown.
type commentView struct {
	comment
	Folded bool // the text is long, and shown in part until its reader asks for all
	Voting bool // with room for buttons
}

// noticeView stands where the list would be.
type noticeView struct {
	Text  string
	Again string // when to try again; empty if that is no way
	Links []linkView
}

type linkView struct {
	Href, Text string
	Filter     bool // it changes the filter: search engines are not to follow it
}

type planView struct{ Cost, Sentence string }

// pagesView are the links to other pages. Numbers and Jump are empty while pages have no numbers.
type pagesView struct {
	Previous, Next string // empty if there is none
	Numbers        []numberView
	Jump           *jumpView
}

// numberView is the link to a page by its number.
type numberView struct {
	Href, Number string
	Current      bool
	Gap          bool // pages are left out before it
}

// jumpView is the form to go to a page by its number.
type jumpView struct {
	Action    string // where the form leads
	Hidden    []parameter
	Page, Max int
}
