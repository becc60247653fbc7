package lookahead

// Kind says what a field reads, or which list it is. The limits and the resolvers use it before the
// field is resolved.
type Kind int

// The kinds of fields. All that are not listed in kinds are Plain.
const (
	// Plain fields read nothing.
	Plain Kind = iota
	// Text is the text of a comment.
	Text
	// Media are the pictures and videos of a comment or of an edit.
	Media
	// OneNode fetches the comment, or names the product, of one id.
	OneNode
	// Nodes does so for each of several ids.
	Nodes
	// Products names a product for each of several ids.
	Products
	// Entities fetches a comment, or names a product, for each of several representations.
	Entities
	// Leaderboard reads the leading products.
	Leaderboard
	// Write changes a comment.
	Write
	// Writes changes several comments.
	Writes
	// Queue reads a page of the comments that wait.
	Queue
	// Listed are the elements of the list that Writes, Queue, CommentsBy or OwnComments returns.
	Listed
	// Pending counts the comments that wait.
	Pending
	// Audit reads the decisions about a comment, or its reports.
	Audit
	// CommentsBy reads the latest comments of a customer.
	CommentsBy
	// ErasureStatus looks up how far an erasure has come.
	ErasureStatus
	// Comments reads a page of the comments of a product.
	Comments
	// OwnComments reads a page of the comments of the customer who asks.
	OwnComments
	// ViewerComment looks for the viewer's comment about a product among all of the viewer's comments.
	ViewerComment
	// PageElements are the comments of a page of a product.
	PageElements
	// ListTotal is the number of comments in the whole list of a page.
	ListTotal
	// ListStats is the number of comments in that list, by rating.
	ListStats
	// PageCount is how many pages that list has.
	PageCount
	// PageNumber is the number of the page.
	PageNumber
	// PageLinks are where other pages begin.
	PageLinks
	// LinksAround is the list of links to the pages next to a page.
	LinksAround
	// ViewerVote looks for the vote of the customer who asks about a comment.
	ViewerVote
	// Cursor is the cursor of a comment of a page.
	Cursor
	// Plan says how a page was read.
	Plan
	// Latest reads the newest comment of a product.
	Latest
	// LatestRated reads the newest comment of a product with one of two ratings.
	LatestRated
	// MostHelpful looks for the most helpful comment of a product with one of some ratings.
	MostHelpful
	// Statistics are those of a product.
	Statistics
	// Languages is the list of languages in the statistics of a product.
	Languages
	// AsOf is the time up to which statistics include all changes.
	AsOf
	// Ratings is the list of counts by rating.
	Ratings
	// UserErrors is the list of what is wrong with an input.
	UserErrors
	// CommentEvents follows the comments of a product, and ChangingStats its statistics.
	CommentEvents
	ChangingStats
	// PlanCandidates is the list of ways in which a page could have been read.
	PlanCandidates
	// PlanPartitions is the list of partitions that a plan reads or skips.
	PlanPartitions
)

// kinds is the table of fields by type and name. The limits and the resolvers both use it. A test
// compares it with the schema: it must have each field that reads or is a list of objects.
var kinds = map[string]map[string]Kind{
	"Query": {
		"comment":     OneNode,
		"node":        OneNode,
		"nodes":       Nodes,
		"products":    Products,
		"leaderboard": Leaderboard,
		"_entities":   Entities,
	},
	"Mutation": {
		"addComment":      Write,
		"editComment":     Write,
		"deleteComment":   Write,
		"replyToComment":  Write,
		"deleteReply":     Write,
		"reportComment":   Write,
		"voteOnComment":   Write,
		"withdrawComment": Write,
		"approveComment":  Write,
		"rejectComment":   Write,
		"decideComments":  Writes,
		"eraseAuthor":     Write,

		"createVisitorToken": Write, // so that the limit on an address's writes bounds its tokens too
	},
	"Subscription":           {"commentEvents": CommentEvents, "stats": ChangingStats},
	"AddCommentPayload":      {"userErrors": UserErrors},
	"EditCommentPayload":     {"userErrors": UserErrors},
	"DeleteCommentPayload":   {"userErrors": UserErrors},
	"ReportCommentPayload":   {"userErrors": UserErrors},
	"VoteOnCommentPayload":   {"userErrors": UserErrors},
	"ReplyToCommentPayload":  {"userErrors": UserErrors},
	"DeleteReplyPayload":     {"userErrors": UserErrors},
	"Moderation":             {"queue": Queue, "pending": Pending, "audit": Audit, "reports": Audit, "commentsBy": CommentsBy, "erasure": ErasureStatus},
	"CustomerComments":       {"latest": Listed},
	"QueueConnection":        {"edges": Listed, "nodes": Listed},
	"ModerateCommentPayload": {"userErrors": UserErrors},
	"EraseAuthorPayload":     {"userErrors": UserErrors},
	"DecideCommentsPayload":  {"userErrors": UserErrors, "results": Listed},
	"Product": {
		"comments":                 Comments,
		"stats":                    Statistics,
		"languages":                Languages,
		"commentsInOtherLanguages": Statistics,
		"lastCommentedAt":          Latest,
		"latestPositive":           LatestRated,
		"latestNegative":           LatestRated,
		"mostHelpfulPositive":      MostHelpful,
		"mostHelpfulCritical":      MostHelpful,
		"viewerComment":            ViewerComment,
	},
	"Comment":  {"text": Text, "media": Media},
	"HeldEdit": {"media": Media},
	"Votes":    {"viewerVote": ViewerVote},
	"CommentConnection": {
		"edges":       PageElements,
		"nodes":       PageElements,
		"totalCount":  ListTotal,
		"stats":       ListStats,
		"pageCount":   PageCount,
		"pageNumber":  PageNumber,
		"pageCursors": PageLinks,
		"plan":        Plan,
	},
	"Viewer":                  {"comments": OwnComments},
	"ViewerCommentConnection": {"edges": Listed, "nodes": Listed},

	"CommentEdge":  {"cursor": Cursor},
	"PageInfo":     {"startCursor": Cursor, "endCursor": Cursor},
	"PageCursors":  {"around": LinksAround},
	"CommentStats": {"ratings": Ratings, "asOf": AsOf},
	"QueryPlan": {
		"candidates": PlanCandidates,
		"reads":      PlanPartitions,
		"skipped":    PlanPartitions,
	},
}
