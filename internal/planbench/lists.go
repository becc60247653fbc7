package planbench

import (
	"context"
	"fmt"
	"hash/fnv"
	"math"
	"slices"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/layout"
)

// orderOf are the orders of walks through lists that are not the newest first.
var orderOf = map[Walk]comment.Order{HighestRated: comment.HighestRated, LowestRated: comment.LowestRated}

// verifiedOf says how many in a thousand comments are verified, for walks through lists of these.
var verifiedOf = map[Walk]int{CommonTrait: 800, RareTrait: 5}

// measureLists returns pages of lists in other orders, and of lists that are restricted to a trait: those
// of all comments, and of some languages.
func measureLists(ctx context.Context, comments []comment.Comment) ([][]Row, error) {
	var out [][]Row
	for walk := HighestRated; walk <= RareTrait; walk++ {
		comments := slices.Clone(comments)
		for i := range comments {
			hash := fnv.New32a()
			_, _ = hash.Write([]byte(comments[i].ID)) // it never fails
			comments[i].Verified = int(hash.Sum32()%1000) < verifiedOf[walk]
		}
		p, err := NewProduct(ctx, comments)
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
	for _, v := range p.visitsOfList(filter, list, PageSize) {
		v.query.Order = order
		if v.query.Slice.After != nil {
			v.query.Slice.After = new(order.PlaceOf(p.comments[list[v.first-1]]))
		}
		least := p.foreseeOrder(v)
		if filter.Verified != nil {
			least = p.foreseeTrait(v)
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

// foreseeOrder returns the least read units with which a page in an order by rating can be read: each
// rating of it by itself, or the whole list.
func (p *Product) foreseeOrder(v visit) float64 {
	links, whole := 0.0, []cellPrice{}
	first := v.first
	if v.query.Slice.After != nil {
		first--
	}
	page := v.list[first:min(first+wanted(v.query), len(v.list))]
	for rating := 1; rating <= comment.MaxRating; rating++ {
		of := slices.DeleteFunc(slices.Clone(page), func(number int) bool { return p.comments[number].Rating != rating })
		var cells []cellPrice
		for _, language := range orAny(v.query.Filter.Languages) {
			if c, holds := p.ledger.cell(language, rating, 0, len(p.comments)-1); holds {
				whole = append(whole, c)
			}
			if len(of) == 0 {
				continue
			}
			if c, holds := p.ledger.cell(language, rating, of[0], of[len(of)-1]); holds {
				cells = append(cells, c)
			}
		}
		links += cheapest(cells, v.query.Filter.Languages)
	}
	return min(links, cheapest(whole, v.query.Filter.Languages))
}

// foreseeTrait returns the least read units with which a page of comments with a trait can be read: along
// the product, along its languages, or by their ids. What it takes to know the ids is left out.
func (p *Product) foreseeTrait(v visit) float64 {
	from, to := v.window()
	along, ids := math.Inf(1), 0.0
	if len(v.query.Filter.Languages) > 0 {
		along = 0
	}
	last := map[comment.Language]int{}
	for _, number := range v.list {
		if number >= from && number <= to {
			c := p.comments[number]
			ids += units(p.table.comments[text(layout.CommentKey(c.ID)["PK"])].bytes)
			last[c.Language] = number
		}
	}
	for language, end := range last {
		along += p.ledger[layout.Partition{Index: layout.ByLang, Language: language}].price(from, end)
	}
	return min(along, ids, p.ledger[layout.Partition{Index: layout.All}].price(from, to))
}
