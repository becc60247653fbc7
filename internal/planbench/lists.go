package planbench

import (
	"hash/fnv"
	"slices"

	"github.com/talkback/talkback/comment"
)

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
