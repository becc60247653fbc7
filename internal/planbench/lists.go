package planbench

import (
	"hash/fnv"
	"slices"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/layout"
)

// order returns the order of the lists that a walk goes through.
func (w Walk) order() comment.Order {
	switch w {
	case HighestRated:
		return comment.HighestRated
	case LowestRated:
		return comment.LowestRated
	case MostHelpful:
		return comment.MostHelpful
	}
	return comment.NewestFirst
}

// votedOf is the number of comments in a thousand with votes, for the walk MostHelpful.
const votedOf = 30

// verifiedOf has the number of verified comments in a thousand, for walks through lists of these.
var verifiedOf = map[Walk]int{CommonTrait: 800, RareTrait: 5}

// forWalk returns the product of comments for a walk through lists in another order, or through
// lists restricted to a trait.
func forWalk(walk Walk, comments []comment.Comment) (*Product, error) {
	comments = slices.Clone(comments)
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
	return NewProduct(comments)
}

// visitsBy returns the pages of a walk through such lists, of all comments and of some languages.
func (p *Product) visitsBy(walk Walk, size int) (out []visit) {
	for _, languages := range p.languageSets() {
		filter := comment.Filter{Languages: languages}
		if verifiedOf[walk] > 0 {
			filter.Verified = new(true)
		}
		out = append(out, p.visitsOf(walk, filter, size)...)
	}
	return out
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
	voted, page := p.listOf(comment.MostHelpful, comment.Filter{Helpful: new(true)}), v.needed()
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
