package resolvers

import (
	"cmp"
	"context"
	"sync"

	"github.com/99designs/gqlgen/graphql"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/graph"
	"github.com/talkback/talkback/graph/lookahead"
	"github.com/talkback/talkback/internal/task"
	"github.com/talkback/talkback/loaders"
)

// maxIDs bounds the lists of ids in one field.
const maxIDs = 100

type queryResolver struct{ *Resolver }

// Product returns the product of an id.
func (queryResolver) Product(ctx context.Context, id string) (*comment.Product, error) {
	product, err := productByID(id)
	if err != nil {
		return nil, err
	}
	expectStats(ctx, id)
	return product, nil
}

// Products returns several products. A malformed id gives null and an error of its own.
func (queryResolver) Products(ctx context.Context, ids []string) ([]*comment.Product, error) {
	if err := checkCount(len(ids), "ids"); err != nil {
		return nil, err
	}
	products := make([]*comment.Product, len(ids))
	var good []string
	for i, id := range ids {
		product, err := productByID(id)
		if err != nil {
			addElementError(ctx, i, err)
			continue
		}
		products[i] = product
		good = append(good, id)
	}
	expectStats(ctx, good...)
	return products, nil
}

// Comment returns the comment of an id, nil if there is none.
func (r queryResolver) Comment(ctx context.Context, id string) (*comment.Comment, error) {
	c, err := r.commentByID(ctx, id)
	if c != nil && err == nil {
		expectStats(ctx, c.ProductID)
	}
	return c, err
}

// Node returns the product or the comment of an id.
func (r queryResolver) Node(ctx context.Context, id string) (comment.Node, error) {
	node, err := r.nodeByID(ctx, id)
	expectStatsOfNodes(ctx, node)
	return node, err
}

// Nodes returns several products and comments. An id whose node cannot be fetched gives null and an
// error of its own.
func (r queryResolver) Nodes(ctx context.Context, ids []string) ([]comment.Node, error) {
	if err := checkCount(len(ids), "ids"); err != nil {
		return nil, err
	}
	nodes := each(ctx, ids, r.nodeByID)
	expectStatsOfNodes(ctx, nodes...)
	return nodes, nil
}

// Leaderboard returns the products with most comments of 5 stars.
func (r queryResolver) Leaderboard(ctx context.Context, _ *int, language *comment.Language) ([]*graph.LeaderboardEntry, error) {
	size := lookahead.From(ctx).Count
	if size < 1 || size > comment.MaxLeaders {
		return nil, comment.Errorf(comment.BadInput, "a leaderboard has 1 to %d products, not %d", comment.MaxLeaders, size)
	}
	leaders, err := r.Comments.Leaders(ctx, *cmp.Or(language, new(comment.Language)), size)
	if err != nil {
		return nil, err
	}
	entries := make([]*graph.LeaderboardEntry, len(leaders))
	products := make([]string, len(leaders))
	for i, leader := range leaders {
		entries[i] = &graph.LeaderboardEntry{Rank: leader.Rank, Product: &comment.Product{ID: leader.Product}, Count: leader.Count}
		products[i] = leader.Product
	}
	expectStats(ctx, products...)
	return entries, nil
}

// Viewer returns who sent the request.
func (r queryResolver) Viewer(ctx context.Context) (*comment.Viewer, error) {
	return new(r.viewer(ctx)), nil
}

// viewer returns who sent the request, and notes that the answer is for this sender alone.
// Resolvers of queries call it instead of Service.Viewer.
func (r *Resolver) viewer(ctx context.Context) comment.Viewer {
	loaders.From(ctx).ForCaller()
	return r.Service.Viewer(ctx)
}

func productByID(id string) (*comment.Product, error) {
	if err := comment.CheckProductID(id); err != nil {
		return nil, err
	}
	return &comment.Product{ID: id}, nil
}

// commentByID returns the comment of an id as the caller may see it, nil if there is none for it.
// Nobody but the author and moderators sees that a comment waits or was rejected.
func (r *Resolver) commentByID(ctx context.Context, text string) (*comment.Comment, error) {
	id, err := comment.ParseID(text)
	if err != nil {
		return nil, err
	}
	c, err := loaders.From(ctx).Comment(ctx, id, !lookahead.From(ctx).WantsText)
	if c == nil || err != nil || c.Status == comment.Approved && c.Moderation == nil {
		return c, err
	}
	switch viewer := r.viewer(ctx); {
	case viewer.SeesModeration(*c):
		return c, nil
	case !viewer.Sees(*c):
		return nil, nil
	}
	public := *c
	public.Moderation = nil
	return &public, nil
}

// nodeByID returns the product or the comment of an id.
func (r *Resolver) nodeByID(ctx context.Context, id string) (comment.Node, error) {
	if !comment.IsID(id) {
		return node(productByID(id))
	}
	return node(r.commentByID(ctx, id))
}

// node returns what was found as a node. It returns an untyped nil: a nil pointer in the interface
// would count as a node.
func node[T any, P interface {
	*T
	comment.Node
}](found P, err error) (comment.Node, error) {
	if found == nil || err != nil {
		return nil, err
	}
	return found, nil
}

// each finds the nodes of all keys in parallel. A node that cannot be fetched gives nil and an
// error of its own.
func each[K any](ctx context.Context, keys []K, find func(context.Context, K) (comment.Node, error)) []comment.Node {
	nodes := make([]comment.Node, len(keys))
	errs := make([]error, len(keys))
	var group sync.WaitGroup
	for i, key := range keys {
		group.Go(func() {
			errs[i] = task.Guard(func() (err error) {
				nodes[i], err = find(ctx, key)
				return err
			})
		})
	}
	group.Wait()
	for i, err := range errs {
		if err != nil {
			addElementError(ctx, i, err)
		}
	}
	return nodes
}

func checkCount(n int, what string) error {
	if n > maxIDs {
		return comment.Errorf(comment.BadInput, "%d %s are too many: ask for at most %d at once", n, what, maxIDs)
	}
	return nil
}

// addElementError reports the error of one element of a list. The other elements are answered.
func addElementError(ctx context.Context, index int, err error) {
	graphql.AddError(graphql.WithPathContext(ctx, graphql.NewPathWithIndex(index)), err)
}

type subscriptionResolver struct{ *Resolver }

// CommentEvents follows the comments of a product.
func (r subscriptionResolver) CommentEvents(ctx context.Context, productID string, filter *comment.Filter) (<-chan *comment.Event, error) {
	if err := comment.CheckProductID(productID); err != nil {
		return nil, err
	}
	which, err := cmp.Or(filter, new(comment.Filter)).Normalize()
	if err != nil {
		return nil, err
	}
	return r.Follower.CommentEvents(ctx, productID, which)
}

// Stats follows the statistics of a product.
func (r subscriptionResolver) Stats(ctx context.Context, productID string) (<-chan *comment.Statistics, error) {
	if err := comment.CheckProductID(productID); err != nil {
		return nil, err
	}
	return r.Follower.Stats(ctx, productID)
}

// expectStats begins to fetch the statistics of products if anything below the root field needs
// them. They are then read in parallel with the first page of comments, and those of many products
// in one call. All fields below a product or a comment concern that product alone, so calls from
// the root fields suffice.
func expectStats(ctx context.Context, products ...string) {
	loaders.From(ctx).About(products...)
	if asked := lookahead.From(ctx); asked.WantsStatistics {
		fetchStats(ctx, asked, products)
	}
}

// expectStatsOfNodes is expectStats for nodes. The fields selected on products may differ from
// those selected on the products of comments.
func expectStatsOfNodes(ctx context.Context, nodes ...comment.Node) {
	asked := lookahead.From(ctx)
	ofProducts, ofComments := asked.WantsStatisticsOf("Product"), asked.WantsStatisticsOf("Comment")
	var products []string
	for _, node := range nodes {
		switch n := node.(type) {
		case *comment.Product:
			loaders.From(ctx).About(n.ID)
			if ofProducts {
				products = append(products, n.ID)
			}
		case *comment.Comment:
			loaders.From(ctx).About(n.ProductID)
			if ofComments {
				products = append(products, n.ProductID)
			}
		}
	}
	fetchStats(ctx, asked, products)
}

// fetchStats begins to fetch the statistics of products, together with those of other root fields.
func fetchStats(ctx context.Context, asked *lookahead.Field, products []string) {
	wantLatest(loaders.From(ctx), asked)
	loaders.From(ctx).ExpectStats(ctx, products...)
}
