package prior

import (
	"math"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/planner"
)

// tally is what was seen of products, as sums over products. Tallies of several servers are added.
// It is a value: no method changes a map that another tally holds.
type tally struct {
	Products  survival                  `json:"products"`
	Ratings   mixture[int]              `json:"ratings"`
	Languages mixture[comment.Language] `json:"languages"`
	Lengths   lengths                   `json:"lengths"`
	Large     large                     `json:"-"` // bytes of their own in the item
}

const (
	// mostVotes is how many products a tally remembers. What is beyond fades: sums are scaled down,
	// so the latest mostVotes products count for most.
	mostVotes = 2000
	// mostLanguages is how many languages a tally knows. The rarest of more are dropped.
	mostLanguages = 32
	// defaultVotes is how many products the planner's default counts for beside what was learnt,
	// defaultLanguageVotes how many where it speaks of languages.
	defaultVotes         = 20
	defaultLanguageVotes = 5
)

// plus adds a tally, whose counts of large products are newer.
func (t tally) plus(other tally) tally {
	t.Products = t.Products.plus(other.Products)
	t.Ratings = t.Ratings.plus(other.Ratings)
	t.Languages = t.Languages.plus(other.Languages)
	t.Lengths = t.Lengths.plus(other.Lengths)
	t.Large = t.Large.with(other.Large)
	return t
}

// bounded fades what is beyond mostVotes, and drops the rarest languages.
func (t tally) bounded() tally {
	t.Products = t.Products.scaled(fade(t.Products.Products))
	t.Ratings = t.Ratings.scaled(fade(t.Ratings.Votes))
	t.Languages = t.Languages.scaled(fade(t.Languages.Votes)).trimmed(mostLanguages)
	for i := range t.Lengths {
		t.Lengths[i] = t.Lengths[i].scaled(fade(t.Lengths[i].Votes))
	}
	return t
}

func fade(votes float64) float64 { return mostVotes / max(votes, mostVotes) }

// prior returns what the tally and the planner's default say together.
func (t tally) prior() *planner.Prior {
	p := *planner.DefaultPrior()
	p.Learnt = int(t.Products.Products)
	p.Products = t.Products.plus(survivalOf(p.Products, defaultVotes)).shares()
	t.setRatings(&p)
	t.setLanguages(&p)
	t.setSizes(&p)
	return &p
}

func (t tally) setRatings(p *planner.Prior) {
	shares := make(map[int]float64, len(p.Ratings))
	for i, share := range p.Ratings {
		shares[i+1] = share
	}
	all := t.Ratings.plus(mixtureOf(shares, p.RatingsAlike, defaultVotes))
	for i := range p.Ratings {
		p.Ratings[i] = all.Shares[i+1] / all.Votes
	}
	p.RatingsAlike = all.concentration()
}

// setLanguages sets the mixture of languages, once there are some votes. The default knows no
// language, so it has few votes. What it says of any language fades with every vote.
func (t tally) setLanguages(p *planner.Prior) {
	if t.Languages.Votes < defaultLanguageVotes {
		return
	}
	learnt := t.Languages.Votes / (t.Languages.Votes + defaultLanguageVotes)
	p.OtherLanguage *= 1 - learnt
	p.Languages = t.Languages.shares()
	sum := 0.0
	for language, share := range p.Languages {
		p.Languages[language] = learnt*share + p.OtherLanguage
		sum += p.Languages[language]
	}
	for language := range p.Languages {
		p.Languages[language] /= max(sum, 1)
	}
	p.LanguagesAlike = math.Pow(t.Languages.concentration(), learnt) * math.Pow(p.LanguagesAlike, 1-learnt)
}

// setSizes sets how large comments are. A rating of which little was read is like any other.
func (t tally) setSizes(p *planner.Prior) {
	p.Sizes.Any = t.Lengths[0].plus(lengthOf(p.Sizes.Any, defaultVotes)).size()
	for i := range p.Sizes.ByRating {
		p.Sizes.ByRating[i] = t.Lengths[1+i].plus(lengthOf(p.Sizes.Any, defaultVotes)).size()
	}
}
