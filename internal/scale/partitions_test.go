package scale_test

import (
	"math"
	"math/rand/v2"
)

// crowd is who looks at what: the popular products one by one, and all others evenly.
type crowd struct {
	hot  []float64 // shares of products, the most popular first
	rest float64   // share of all others
}

// popular is how many products are looked at one by one.
const popular = 20_000

// newCrowd spreads views over products so that the first has a share, and product r one that falls
// as 1/(r+q): Zipf's law with a head that is cut.
func newCrowd(products, first float64) crowd {
	q := 0.0
	for low, high := -0.999, 1e6; high-low > 1e-6; {
		q = (low + high) / 2
		if 1/((1+q)*harmonicFrom(q, products)) > first {
			low = q
		} else {
			high = q
		}
	}
	c, all := crowd{rest: 1}, harmonicFrom(q, products)
	for r := 1.0; r <= popular; r++ {
		c.hot = append(c.hot, 1/((r+q)*all))
		c.rest -= c.hot[len(c.hot)-1]
	}
	return c
}

// harmonicFrom returns 1/(1+q) + ... + 1/(n+q).
func harmonicFrom(q, n float64) float64 {
	sum := 0.0
	for r := 1.0; r <= 1000; r++ {
		sum += 1 / (r + q)
	}
	return sum + math.Log((n+q+.5)/(1000+q+.5))
}

// poisson draws how many of something come in a second.
func poisson(r *rand.Rand, mean float64) float64 {
	if mean > 30 {
		return max(0, math.Round(mean+math.Sqrt(mean)*r.NormFloat64()))
	}
	n, p, least := 0.0, r.Float64(), math.Exp(-mean)
	for p > least {
		n, p = n+1, p*r.Float64()
	}
	return n
}

// partition holds some popular products, and a part of the others.
type partition struct {
	products []int
	others   float64 // share of the others
}

// spread hashes the products of a crowd into partitions.
func (c crowd) spread(r *rand.Rand, n int) []partition {
	all := make([]partition, n)
	for i := range all {
		all[i].others = 1 / float64(n)
	}
	for product := range c.hot {
		at := &all[r.IntN(n)]
		at.products = append(at.products, product)
	}
	return all
}

// demand is what is asked for in a second: how many calls, what each takes, and what a partition
// serves. ofProduct bounds the calls about one product, 0 for no bound.
type demand struct{ calls, units, serves, ofProduct float64 }

// second draws a second, and returns the units that are asked of each partition.
func (c crowd) second(r *rand.Rand, all []partition, d demand) []float64 {
	asked := make([]float64, len(all))
	for i, p := range all {
		for _, product := range p.products {
			calls := poisson(r, d.calls*c.hot[product])
			if d.ofProduct > 0 {
				calls = min(calls, d.ofProduct)
			}
			asked[i] += calls * d.units
		}
		asked[i] += poisson(r, d.calls*c.rest*p.others) * d.units
	}
	return asked
}

// throttled draws seconds, and returns the share of units that is refused. Partitions keep no
// unused units for later here.
func (c crowd) throttled(r *rand.Rand, all []partition, d demand) float64 {
	refused, asked := 0.0, 0.0
	for range seconds {
		for _, units := range c.second(r, all, d) {
			asked += units
			refused += max(0, units-d.serves)
		}
	}
	return refused / asked
}

const seconds = 20

// split splits partitions that are asked for more than they serve, as adaptive capacity does, until
// each of these holds one popular product alone.
func (c crowd) split(r *rand.Rand, all []partition, d demand) []partition {
	for again := true; again; {
		again = false
		for i, units := range c.second(r, all, d) {
			p := all[i]
			if units <= d.serves || len(p.products) <= 1 && p.others == 0 {
				continue
			}
			var left, right partition
			if len(p.products) == 1 { // the product for itself
				left.products, right.others = p.products, p.others
			} else {
				left.others, right.others = p.others/2, p.others/2
				for _, product := range p.products {
					if r.IntN(2) == 0 {
						left.products = append(left.products, product)
					} else {
						right.products = append(right.products, product)
					}
				}
			}
			all[i] = left
			all, again = append(all, right), true
		}
	}
	return all
}

// partitionsOf returns how many partitions some bytes take.
func partitionsOf(bytes float64) int { return max(4, int(math.Ceil(bytes/(10<<30)))) }
