package reviewfile

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/talkback/talkback/comment"
)

// marketLanguages are the languages of Amazon's marketplaces. Some reviews are in another language,
// so a column of languages takes precedence.
var marketLanguages = map[string]comment.Language{
	"US": "en", "UK": "en", "GB": "en", "CA": "en", "AU": "en", "IN": "en",
	"DE": "de", "AT": "de", "FR": "fr", "JP": "ja", "ES": "es", "MX": "es", "IT": "it",
	"BR": "pt", "NL": "nl", "SE": "sv", "PL": "pl", "TR": "tr", "CN": "zh",
}

const maxColumns = 1000

// header is the columns of a file or a row: their names as written, and as normalized by plain.
type header struct{ names, plain []string }

func headerOf(columns []string) header {
	h := header{names: columns, plain: make([]string, len(columns))}
	for i, column := range columns {
		h.plain[i] = plain(column)
	}
	return h
}

// plain normalizes the name of a column: without case, spaces and punctuation. review_body,
// reviewBody and Review Body are the same column.
func plain(name string) string {
	return strings.Map(func(r rune) rune {
		if r == '_' || r == '-' || r == ' ' || r == '.' {
			return -1
		}
		return r
	}, strings.ToLower(name))
}

// layout maps fields to the columns of a row.
type layout struct {
	columns []string // the columns that the layout is for
	index   map[Field]int
	// byMarket is true if the language follows from Amazon's marketplace.
	byMarket bool
	// gmt is true if the dates are in GMT, as a column such as date_created_gmt says.
	gmt bool
}

// layoutOf finds the columns of the fields.
func layoutOf(columns []string, options Options, headlineIsText bool) layout {
	l := layout{columns: columns, index: map[Field]int{}}
	h := headerOf(columns)
	for _, field := range Fields() {
		if i := h.find(field, options); i >= 0 {
			l.index[field] = i
		}
	}
	if title, found := l.index[Title]; found && headlineIsText {
		delete(l.index, Title)
		if _, found := l.index[Text]; !found {
			l.index[Text] = title
		}
	}
	if i, found := l.index[Language]; found {
		l.byMarket = h.plain[i] == marketplace
	}
	if i, found := l.index[CreatedAt]; found {
		l.gmt = strings.HasSuffix(h.plain[i], "gmt")
	}
	return l
}

// find returns the index of the column that holds a field, -1 if there is none.
func (h header) find(field Field, options Options) int {
	column, mapped := options.Columns[field]
	if field == Media && options.MediaBase == "" || mapped && column == "" { // a column may have no name
		return -1
	}
	if mapped {
		if i := slices.Index(h.names, column); i >= 0 {
			return i
		}
		return slices.Index(h.plain, plain(column))
	}
	for _, name := range presets[options.From].columns[field] {
		if i := slices.Index(h.plain, name); i >= 0 {
			return i
		}
	}
	return -1
}

// MappedField is a field and the column that holds it.
type MappedField struct {
	Field  Field
	Column string
	// Others are further columns for the field, which are not read.
	Others []string
}

// Mapping describes the use of a file's columns.
type Mapping struct {
	Fields []MappedField
	// Ignored are the columns that are not read.
	Ignored []string
	// Media is the column of pictures that is not read without Options.MediaBase; empty for none.
	Media string
}

// Has reports whether a column holds the field, and is read.
func (m Mapping) Has(field Field) bool {
	return slices.ContainsFunc(m.Fields, func(f MappedField) bool { return f.Field == field })
}

func (h header) mapping(options Options, headlineIsText bool) (m Mapping) {
	l := layoutOf(h.names, options, headlineIsText)
	left := slices.Clone(h.names)
	take := func(i int) string {
		left[i] = ""
		return h.names[i]
	}
	for _, field := range Fields() {
		i, found := l.index[field]
		if !found || field == Language && options.oneLanguage() {
			continue
		}
		f := MappedField{Field: field, Column: take(i)}
		if _, mapped := options.Columns[field]; !mapped {
			for _, name := range presets[options.From].columns[field] {
				if other := slices.Index(h.plain, name); other >= 0 && left[other] != "" {
					f.Others = append(f.Others, take(other))
				}
			}
		}
		m.Fields = append(m.Fields, f)
	}
	if options.MediaBase == "" {
		for _, name := range presets[options.From].columns[Media] {
			if i := slices.Index(h.plain, name); i >= 0 && left[i] != "" && m.Media == "" {
				m.Media = take(i)
			}
		}
	}
	m.Ignored = slices.DeleteFunc(left, func(name string) bool { return name == "" })
	return m
}

// headlineIsText reports whether a file has headlines but no texts.
func (h header) headlineIsText(options Options) bool {
	_, mapped := options.Columns[Text]
	return !mapped && h.find(Text, options) < 0 && h.find(Title, options) >= 0
}

// check returns an error if the columns contradict the options, or if a required column is missing.
func (h header) check(options Options) error {
	if len(h.names) > maxColumns {
		return fmt.Errorf("the file has %d columns; at most %d are read", len(h.names), maxColumns)
	}
	if options.Columns[Media] != "" && options.MediaBase == "" {
		return errors.New("--map media=COLUMN needs --media-base PREFIX, which all addresses in the column begin with")
	}
	for _, field := range Fields() {
		i := h.find(field, options)
		if column := options.Columns[field]; column != "" && i < 0 {
			return fmt.Errorf("no column is named %q, which --map gives for %s; there are: %s", column, field, h)
		}
		if i >= 0 && slices.Contains(h.names[i+1:], h.names[i]) {
			return fmt.Errorf("two columns are named %.40q: rename the one that does not hold the %s; there are: %s", h.names[i], field, h)
		}
	}
	return h.checkNeeded(options)
}

// needsStatus reports whether all rows need a status: without one, a review may never have been
// shown.
func (o Options) needsStatus() bool {
	column, mapped := o.Columns[Status]
	return o.From != "" && column != "" || !mapped && !presets[o.From].public
}

func (h header) checkNeeded(options Options) error {
	needed := []Field{Product, Rating, CreatedAt} // the language comes last
	if column, mapped := options.Columns[Text]; !(mapped && column == "") && !h.headlineIsText(options) {
		needed = append(needed, Text)
	}
	if options.needsStatus() {
		needed = append(needed, Status)
	}
	if options.Language == "" && options.Detect == nil {
		needed = append(needed, Language)
	}
	var missing, cures []string
	for _, field := range needed {
		if h.find(field, options) < 0 {
			missing = append(missing, string(field))
			cures = append(cures, fmt.Sprintf("--map %s=COLUMN", field))
		}
	}
	if len(missing) == 0 {
		return nil
	}
	if slices.Contains(missing, string(Status)) {
		cures[len(cures)-1] += ", or give --map status= if all of its reviews may be published"
	}
	if missing[len(missing)-1] == string(Language) {
		cures[len(cures)-1] += ", or give --language TAG for all rows"
	}
	return fmt.Errorf("no column is known to hold the %s: name it by %s; there are: %s",
		strings.Join(missing, ", the "), strings.Join(cures, " "), h)
}

// String lists the first names: the first line of a file without a header has other data.
func (h header) String() string {
	const most = 30
	names := make([]string, 0, most+1)
	for _, name := range h.names[:min(len(h.names), most)] {
		names = append(names, quoted(fmt.Sprintf("%.40s", name)))
	}
	if len(h.names) > most {
		names = append(names, fmt.Sprintf("and %d more", len(h.names)-most))
	}
	return strings.Join(names, ", ")
}

const marketplace = "marketplace"

// usualNames are the usual, normalized names of columns, the best first.
var usualNames = map[Field][]string{
	ID:         {"reviewid", "commentid", "id"},
	Product:    {"productid", "asin", "product", "parentasin"},
	Rating:     {"starrating", "rating", "stars", "overall", "score"},
	Language:   {"language", "lang", "locale", marketplace},
	Title:      {"reviewheadline", "reviewtitle", "title", "headline", "summary"},
	Text:       {"reviewbody", "text", "body", "content", "reviewtext"},
	Author:     {"customerid", "author", "authorid", "userid", "reviewerid"},
	AuthorName: {"authorname", "username", "reviewername"},
	CreatedAt:  {"reviewdate", "createdat", "time", "date", "timestamp", "unixreviewtime", "reviewtime"},
	Status:     {"status", "reviewstatus", "moderationstatus", "state", "curated", "published", "commentapproved"},
	Reply:      {"reply", "replytext", "replycontent", "merchantreply", "companyreply", "response", "merchantresponse"},
	ReplyName:  {"replyname", "replyauthor", "responsename", "responseauthor"},
	Verified:   {"verified", "verifiedpurchase", "verifiedbuyer", "isverified"},
	Votes:      {"votes", "helpfulvotes", "helpfulvote", "helpfulcount", "vote"},
	Media:      {"media", "pictureurls", "imageurls", "photourls", "reviewimages", "images", "photos", "pictures"},
	ReplyDate:  {"replydate", "repliedat", "replycreatedat", "companyreplydate", "responsedate"},
}

// preset describes a system's exports of reviews: the normalized names of its columns, the best
// first. Fields without a name are missing, or their name is not public. See docs/operate/data.md.
type preset struct {
	columns map[Field][]string
	// public means that all exported reviews are public. If it is false, a file without a status
	// column is refused, since some of its reviews may never have been shown.
	public bool
}

// presets are the known systems. The empty name means any other.
var presets = map[string]preset{
	"": {usualNames, true},
	"amazon": {map[Field][]string{
		ID: {"reviewid"}, Product: {"productid", "parentasin", "asin"}, Rating: {"starrating", "rating"}, Language: {marketplace},
		Title: {"reviewheadline", "title"}, Text: {"reviewbody", "text"}, Author: {"customerid", "userid"},
		CreatedAt: {"reviewdate", "timestamp"}, Verified: {"verifiedpurchase"}, Votes: {"helpfulvotes", "helpfulvote"},
	}, true},
	"bazaarvoice": {map[Field][]string{
		ID: {"id"}, Product: {"productid"}, Rating: {"rating"}, Language: {"contentlocale"}, Title: {"title"}, Text: {"reviewtext"},
		Author: {"authorid"}, AuthorName: {"usernickname"}, CreatedAt: {"submissiontime"}, Status: {"moderationstatus"},
		Verified: {"verified"}, Votes: {"totalpositivefeedbackcount"}, Media: {"photos"},
		Reply: {"response"}, ReplyName: {"responsename"}, ReplyDate: {"responsedate"},
	}, false},
	"judgeme": {map[Field][]string{
		ID: {"metaobjecthandle"}, Product: {"productid", "producthandle"}, Rating: {"rating"}, Title: {"title"}, Text: {"body"},
		Author: {"revieweremail"}, AuthorName: {"reviewername"}, CreatedAt: {"reviewdate"}, Status: {"curated"},
		Media: {"pictureurls"}, Reply: {"reply"}, ReplyDate: {"replydate"},
	}, false},
	"shopify": {map[Field][]string{
		Product: {"producthandle"}, Rating: {"rating"}, Title: {"title"}, Text: {"body"}, Author: {"email"}, AuthorName: {"author"},
		CreatedAt: {"createdat"}, Status: {"state"}, Reply: {"reply"}, ReplyDate: {"repliedat"},
	}, false},
	"woocommerce": {map[Field][]string{
		ID: {"id", "commentid"}, Product: {"productid", "commentpostid", "productsku"}, Rating: {"rating"}, Title: {"title"},
		Text: {"review", "commentcontent"}, Author: {"revieweremail", "commentauthoremail"}, AuthorName: {"reviewer", "commentauthor"},
		CreatedAt: {"datecreatedgmt", "commentdategmt"}, Status: {"status", "commentapproved"}, Verified: {"verified"},
	}, false},
	"yotpo": {map[Field][]string{
		ID: {"id", "reviewid"}, Product: {"sku", "productid", "productsku"}, Rating: {"score", "reviewscore"}, Title: {"title", "reviewtitle"},
		Text: {"content", "reviewcontent"}, Author: {"email", "revieweremail"}, AuthorName: {"name", "reviewerdisplayname"},
		CreatedAt: {"createdat", "reviewcreationdate"}, Status: {"reviewstatus"}, Verified: {"reviewertype"}, Votes: {"votesup", "thumbsup"},
		Media: {"publishedimageurl"}, // not commentcontent: some replies are private
	}, false},
}

// Presets returns the names that Options.From may have, in order.
func Presets() []string {
	return slices.Sorted(maps.Keys(presets))[1:] // without the empty one
}
