package httpapi

import (
	"context"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/talkback/talkback/quota"
)

// Quota keeps the accounts of clients.
type Quota interface {
	// Policy is what each client may use.
	Policy() quota.Policy
	// Peek returns what a client may use now, and how long it waits for the given units.
	Peek(c quota.Client, units float64) quota.Balance
	// Take takes units from a client, or none if fewer are left.
	Take(ctx context.Context, c quota.Client, units float64) quota.Charge
	// Settle corrects a charge to the units used, and returns the balance.
	Settle(ctx context.Context, c quota.Client, charge quota.Charge, used float64) quota.Balance
}

// leastUnits is the lowest charge for an operation, in read units: the smallest read. An operation
// that reads nothing, or is refused, still takes processor time.
const leastUnits = 0.5

// limitedRequest is a request of a client with quotas, and its charges to them.
type limitedRequest struct {
	client        quota.Client
	byGET         bool      // it writes nothing, and the client may cache the answer, which must not hold the balance
	reads, writes *spending // nil for no limit
	refused       *refusal  // why the operation is not run
}

// spending is the charge of a request to one quota.
type spending struct {
	Quota
	charge quota.Charge
	left   *quota.Balance // nil until it is known
}

// enter refuses a client that could not run even the cheapest operation.
func (v *limitedRequest) enter() *refusal {
	if v.reads == nil {
		return nil
	}
	v.reads.left = new(v.reads.Peek(v.client, leastUnits))
	if v.reads.left.Wait == 0 {
		return nil
	}
	return clientReads.after(v.reads.left.Wait)
}

// take takes units. It reports whether the client had enough.
func (s *spending) take(ctx context.Context, client quota.Client, units float64) bool {
	s.charge = s.Take(ctx, client, units)
	s.left = &s.charge.Balance
	return s.charge.Wait == 0
}

// charge takes the estimated cost of an operation. It returns a refusal if the client has too
// little left, else nil.
func (v *limitedRequest) charge(ctx context.Context, units float64, writes int) *refusal {
	if v.reads != nil && !v.reads.take(ctx, v.client, max(units, leastUnits)) {
		left := v.reads.charge.Balance
		return clientCost.after(left.Wait, whole(left.Units), int(math.Ceil(units)))
	}
	if v.writes != nil && writes > 0 && !v.byGET && !v.writes.take(ctx, v.client, float64(writes)) {
		return clientWrites.after(v.writes.charge.Wait, int(v.writes.Policy().Burst))
	}
	return nil
}

// whole returns how many whole units are left, none in debt.
func whole(units float64) int { return max(0, int(units)) }

// settle corrects the charge to the units that were used.
func (v *limitedRequest) settle(ctx context.Context, used float64) {
	if v == nil || v.reads == nil {
		return
	}
	due := max(used, leastUnits)
	switch {
	case v.refused != nil:
		due = 0 // or a client that retries too early would never have enough
	case ctx.Err() != nil:
		// An operation that was cut off pays at least its estimate: AWS bills calls under way, and their
		// cost is unknown.
		due = max(due, v.reads.charge.Taken)
	}
	left := v.reads.Settle(ctx, v.client, v.reads.charge, due)
	left.Wait = v.reads.left.Wait // of a refusal
	v.reads.left = &left
}

// report reports the balance to the client, in the RateLimit field.
func (v *limitedRequest) report(header http.Header) {
	var items []string
	for _, s := range []*spending{v.reads, v.writes} {
		if s != nil && s.left != nil {
			items = append(items, s.item())
		}
	}
	if len(items) > 0 {
		header.Set("RateLimit", strings.Join(items, ", "))
	}
}

// item returns an item of RateLimit: the units left, and the seconds until there is one more.
// Retry-After is never sooner.
func (s *spending) item() string {
	p, left := s.Policy(), whole(s.left.Units)
	item := fmt.Sprintf("%q;r=%d", p.Name, left)
	if left >= int(p.Burst) {
		return item
	}
	next := seconds(time.Duration((float64(left+1) - s.left.Units) / p.Rate * float64(time.Second)))
	if s.left.Wait > 0 {
		next = min(next, seconds(s.left.Wait))
	}
	return item + ";t=" + strconv.Itoa(next)
}
