package reviewfile

import (
	"maps"
	"slices"
)

// marketplace is the name of Amazon's column of countries, as plain writes it.
const marketplace = "marketplace"

// usualNames are the usual names of columns, as plain writes them, the best first.
var usualNames = map[Field][]string{
	ID:         {"reviewid", "commentid", "id"},
	Product:    {"productid", "asin", "product", "parentasin"},
	Rating:     {"starrating", "rating", "stars", "overall", "score"},
	Language:   {"language", "lang", "locale", marketplace},
	Title:      {"reviewheadline", "title", "headline", "summary"},
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

// preset is how a system exports reviews: the names of its columns as plain writes them, the best
// first. A field without a name has none that is public. docs/operate/data.md names the sources.
type preset struct {
	columns map[Field][]string
	// public says that all exported reviews are shown. Otherwise a file without a column of states is
	// refused, for nobody knows what in it was never shown.
	public bool
}

// presets are the known systems. The empty name stands for any other.
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
		Votes: {"totalpositivefeedbackcount"}, Media: {"photos"},
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
		ID: {"id"}, Product: {"sku"}, Rating: {"score"}, Title: {"title"}, Text: {"content"}, Author: {"email"}, AuthorName: {"name"},
		CreatedAt: {"createdat"}, Votes: {"votesup"},
	}, false},
}

// Presets returns the names that Options.From may have, in order.
func Presets() []string {
	return slices.Sorted(maps.Keys(presets))[1:] // without the empty one
}
