package prior

import (
	"cmp"
	"maps"
	"slices"
)

// mixture is how comments of kinds mix in products: the mean share of each kind, and how much
// products differ. It holds sums over products, each of at most one vote.
type mixture[K cmp.Ordered] struct {
	// Votes is the sum of the votes.
	Votes float64 `json:"votes"`
	// Shares are sums of votes times the share of a kind in the product.
	Shares map[K]float64 `json:"shares,omitempty"`
	// Pairs are the votes of products of which two comments or more were seen. Alike is the part of
	// it for which two comments drawn from the product are of one kind.
	Pairs float64 `json:"pairs"`
	Alike float64 `json:"alike"`
}

// fullVote is how many comments of a product make a full vote. Fewer say less.
const fullVote = 20

// vote adds the vote of a product of which so many comments of each kind were seen. voted is how
// many comments its vote was for so far, at most fullVote: only what is more counts.
func (m *mixture[K]) vote(counts map[K]int, voted *int) {
	total, pairs := 0.0, 0.0
	for _, n := range counts {
		total += float64(max(0, n))
		pairs += float64(max(0, n)) * float64(max(0, n-1))
	}
	comments := int(min(total, fullVote))
	if comments <= *voted {
		return
	}
	vote := float64(comments-*voted) / fullVote
	*voted = comments
	if m.Shares == nil {
		m.Shares = make(map[K]float64, len(counts))
	}
	m.Votes += vote
	for kind, n := range counts {
		m.Shares[kind] += vote * float64(max(0, n)) / total
	}
	if total > 1 {
		m.Pairs += vote
		m.Alike += vote * pairs / (total * (total - 1))
	}
}

// shares returns the mean share of each kind. Together they are 1, or less if kinds were dropped or
// votes were for unknown kinds.
func (m mixture[K]) shares() map[K]float64 {
	out := make(map[K]float64, len(m.Shares))
	for kind, sum := range m.Shares {
		if m.Votes > 0 {
			out[kind] = sum / m.Votes
		}
	}
	return out
}

// Bounds of concentration. Below the lowest, each product has one kind; above the highest, all
// products mix alike.
const (
	leastConcentration = 0.1
	mostConcentration  = 1000
)

// concentration says how alike products are: the parameter of a Dirichlet distribution with these
// mean shares, by the method of moments. Two comments of one product are of one kind with a
// probability of (a*s+1)/(a+1), where a is the concentration and s the sum of the squared shares.
func (m mixture[K]) concentration() float64 {
	if m.Pairs == 0 {
		return mostConcentration
	}
	squares := 0.0
	for _, share := range m.shares() {
		squares += share * share
	}
	alike := m.Alike / m.Pairs
	if alike <= squares {
		return mostConcentration
	}
	return min(max((1-alike)/(alike-squares), leastConcentration), mostConcentration)
}

// mixtureOf returns what so many products would show whose mean shares and concentration are these.
func mixtureOf[K cmp.Ordered](shares map[K]float64, concentration, products float64) mixture[K] {
	m := mixture[K]{Votes: products, Pairs: products, Shares: make(map[K]float64, len(shares))}
	squares := 0.0
	for kind, share := range shares {
		m.Shares[kind] = share * products
		squares += share * share
	}
	m.Alike = products * (concentration*squares + 1) / (concentration + 1)
	return m
}

func (m mixture[K]) plus(other mixture[K]) mixture[K] {
	m.Votes += other.Votes
	m.Pairs += other.Pairs
	m.Alike += other.Alike
	m.Shares = maps.Clone(m.Shares)
	if m.Shares == nil {
		m.Shares = make(map[K]float64, len(other.Shares))
	}
	for kind, sum := range other.Shares {
		m.Shares[kind] += sum
	}
	return m
}

func (m mixture[K]) scaled(by float64) mixture[K] {
	if by == 1 {
		return m
	}
	m.Votes *= by
	m.Pairs *= by
	m.Alike *= by
	m.Shares = maps.Clone(m.Shares)
	for kind := range m.Shares {
		m.Shares[kind] *= by
	}
	return m
}

// trimmed returns the mixture with only so many kinds, those of the largest shares.
func (m mixture[K]) trimmed(most int) mixture[K] {
	if len(m.Shares) <= most {
		return m
	}
	kinds := slices.SortedFunc(maps.Keys(m.Shares), func(a, b K) int {
		return cmp.Or(cmp.Compare(m.Shares[b], m.Shares[a]), cmp.Compare(a, b))
	})
	shares := make(map[K]float64, most)
	for _, kind := range kinds[:most] {
		shares[kind] = m.Shares[kind]
	}
	m.Shares = shares
	return m
}
