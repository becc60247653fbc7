package planbench

import (
	"context"
	"fmt"
	"hash/fnv"
	"slices"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/layout"
)

// orderOf has the orders of walks through lists that are not newest first.
var orderOf = map[Walk]comment.Order{
	HighestRated: comment.HighestRated, LowestRated: comment.LowestRated, MostHelpful: comment.MostHelpful,
}

// votedOf is the number of comments in a thousand with votes, for the walk MostHelpful.
const votedOf = 30

// verifiedOf has the number of verified comments in a thousand, for walks through lists of these.
var verifiedOf = map[Walk]int{CommonTrait: 800, RareTrait: 5}

// measureLists returns pages of lists in other orders, and of lists restricted to a trait, each of
// all comments and of some languages.
func measureLists(ctx context.Context, comments []comment.Comment) ([][]Row, error) {
	var out [][]Row
	for walk := HighestRated; walk <= RareTrait; walk++ {
		comments := slices.Clone(comments)
		for i := range comments {
			hash := fnv.New32a()
			_, _ = hash.Write([]byte(comments[i].ID)) // Write of a hash never fails
			chance := hash.Sum32()
			comments[i].Verified = int(chance%1000) < verifiedOf[walk]
			if walk == MostHelpful && chance%1000 < votedOf {
				comments[i].Votes = comment.VoteCounts{Helpful: 1 + int(chance/1000%50), NotHelpful: int(chance / 50_000 % 10)}
				comments[i].ImportedVotes = comments[i].Votes
			}
		}
		p, err := NewProduct(comments)
		if err != nil {
			return nil, err
		}
		var rows []Row
		for _, languages := range p.languageSets() {
			of, err := p.measureList(ctx, walk, languages)
			if err != nil {
				return nil, fmt.Errorf("product %q, %v of %v: %w", p.id, walk, languages, err)
			}
			rows = append(rows, of...)
		}
		out = append(out, rows)
	}
	return out, nil
}

// measureList returns the pages of one list.
func (p *Product) measureList(ctx context.Context, walk Walk, languages []comment.Language) ([]Row, error) {
	filter, order := comment.Filter{Languages: languages}, comment.NewestFirst
	if keyed, is := orderOf[walk]; is {
		order = keyed
	} else {
		filter.Verified = new(true)
	}
	list := p.listOf(filter)
	slices.SortStableFunc(list, func(a, b int) int {
		return order.Compare(order.PlaceOf(p.comments[a]), order.PlaceOf(p.comments[b]))
	})
	var rows []Row
	for _, v := range p.visitsOf(filter, list, PageSize) {
		v.query.Order = order
		if v.query.Slice.After != nil {
			v.query.Slice.After = new(order.PlaceOf(p.comments[list[v.first-1]]))
		}
		least := 0.0
		switch {
		case filter.Verified != nil:
			least = p.foreseeTrait(v)
		case order == comment.MostHelpful:
			least = p.foreseeVotes(v)
		default:
			least = p.foreseeOrder(v)
		}
		row, err := p.measureOver(ctx, v, least, Cold, Planned)
		if err != nil {
			return nil, err
		}
		row.Walk = walk
		rows = append(rows, row)
	}
	return rows, nil
}

// foreseeOrder returns the least read units for a page in an order by rating: each of its ratings
// alone, or the whole list.
func (p *Product) foreseeOrder(v visit) float64 {
	links, page := 0.0, v.needed()
	for rating := 1; rating <= comment.MaxRating; rating++ {
		of := slices.DeleteFunc(slices.Clone(page), func(number int) bool { return p.comments[number].Rating != rating })
		if len(of) > 0 {
			links += p.least(v.query.Filter.Languages, []int{rating}, of[0], of[len(of)-1])
		}
	}
	return min(links, p.whole(v.query.Filter.Languages))
}

// whole returns the least read units for all comments of some languages.
func (p *Product) whole(languages []comment.Language) float64 {
	return p.least(languages, ratingsOf(comment.Filter{}), 0, len(p.comments)-1)
}

// foreseeVotes returns the least read units for a page in the order of votes: the page's stretch of
// the index of votes, plus its stretch of the comments without votes, or the whole list.
func (p *Product) foreseeVotes(v visit) float64 {
	voted, page := p.voted(), v.needed()
	split := slices.IndexFunc(page, func(number int) bool { return p.comments[number].Votes.Net() <= 0 })
	if split < 0 {
		split = len(page)
	}
	links, entries := 0.0, p.table.partition(layout.Partition{Index: layout.ByHelpful}, p.id) // ascending
	if split > 0 {
		bytes := 0
		for rank := slices.Index(voted, page[0]); rank <= slices.Index(voted, page[split-1]); rank++ {
			bytes += entries[len(entries)-1-rank].bytes
		}
		links += units(bytes)
	}
	if split < len(page) {
		links += p.along(v.query.Filter.Languages, page[split:])
	}
	return min(links, p.whole(v.query.Filter.Languages))
}

// voted returns the comments of the index of votes, in its order.
func (p *Product) voted() []int {
	list := p.listOf(comment.Filter{Helpful: new(true)})
	slices.SortStableFunc(list, func(a, b int) int {
		return comment.MostHelpful.Compare(comment.MostHelpful.PlaceOf(p.comments[a]), comment.MostHelpful.PlaceOf(p.comments[b]))
	})
	return list
}

// along returns the least read units for comments, newest first, read along the product or along
// its languages.
func (p *Product) along(languages []comment.Language, numbers []int) float64 {
	from, last := numbers[0], map[comment.Language]int{}
	for _, number := range numbers {
		last[p.comments[number].Language] = number
	}
	all := p.ledger[layout.Partition{Index: layout.All}].price(from, numbers[len(numbers)-1])
	if len(languages) == 0 {
		return all
	}
	sum := 0.0
	for language, end := range last {
		sum += p.ledger[layout.Partition{Index: layout.ByLang, Language: language}].price(from, end)
	}
	return min(sum, all)
}

// foreseeTrait returns the least read units for a page of comments with a trait: along the product,
// along its languages, or by ID. The cost of finding the IDs is left out.
func (p *Product) foreseeTrait(v visit) float64 {
	page, ids := v.needed(), 0.0
	for _, number := range page {
		ids += units(p.table.comments[text(layout.CommentKey(p.comments[number].ID)[layout.AttrPK])].bytes)
	}
	return min(ids, p.along(v.query.Filter.Languages, page))
}
