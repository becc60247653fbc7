package httpapi

import (
	"context"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/vektah/gqlparser/v2/gqlerror"

	"github.com/talkback/talkback/internal/usage"
	"github.com/talkback/talkback/quota"
)

// ClientLimits bound what each client may use over time. docs/design/client-limits.md says why they
// are as they are.
type ClientLimits struct {
	// Client returns which client sent a request, and whether limits hold for it. Required. It comes
	// after Authenticate.
	Client func(*http.Request) (c quota.Client, limited bool)
	// Reads is what clients may read, in read units. Nil for any number.
	Reads Quota
	// Writes is how many comments clients may add, edit and delete. Nil for any number.
	Writes Quota
}

// Quota keeps account of what clients use.
type Quota interface {
	// Policy is what each client may use.
	Policy() quota.Policy
	// Peek returns what a client may use now, and how long it waits for so many units.
	Peek(c quota.Client, units float64) quota.Balance
	// Take takes units from a client, or none if fewer are left.
	Take(ctx context.Context, c quota.Client, units float64) quota.Charge
	// Settle corrects what was taken to what was used, and returns what is left.
	Settle(ctx context.Context, c quota.Client, charge quota.Charge, used float64) quota.Balance
}

// leastUnits is what an operation costs a client at least, in read units: the smallest read. One
// that reads nothing, or is refused, takes processor time all the same.
const leastUnits = 0.5

// perClient refuses a client that has used up what it may use, before it takes anything that others
// wait for. It tells every client how much is left.
func (c *ClientLimits) perClient(next http.Handler) http.Handler {
	if c == nil {
		return next
	}
	policies := c.policies()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		client, limited := c.Client(r)
		if !limited {
			next.ServeHTTP(w, r)
			return
		}
		v := c.visit(client, r.Method)
		w.Header().Set("RateLimit-Policy", policies)
		if refused := v.enter(); refused != nil {
			v.tell(w.Header())
			refused.write(w)
			return
		}
		requestOf(r.Context()).visit = v
		next.ServeHTTP(w, r)
		v.tell(w.Header())
	})
}

// policies returns the value of RateLimit-Policy.
func (c *ClientLimits) policies() string {
	var items []string
	for _, limit := range []Quota{c.Reads, c.Writes} {
		if limit != nil {
			p := limit.Policy()
			items = append(items, fmt.Sprintf("%q;q=%d;w=%d", p.Name, int(p.Burst), seconds(p.Window())))
		}
	}
	return strings.Join(items, ", ")
}

// visit is a request of a limited client.
type visit struct {
	client        quota.Client
	kept          bool      // the client may keep the answer, so it must not change by itself
	reads, writes *spending // nil for no limit
	refused       *refusal  // why the operation is not run
}

// spending is what a request takes of one quota.
type spending struct {
	Quota
	charge quota.Charge
	left   *quota.Balance // nil until it is known
}

func (c *ClientLimits) visit(client quota.Client, method string) *visit {
	v := &visit{client: client, kept: method == http.MethodGet}
	if c.Reads != nil {
		v.reads = &spending{Quota: c.Reads}
	}
	if c.Writes != nil {
		v.writes = &spending{Quota: c.Writes}
	}
	return v
}

// enter refuses a client that could not run even the cheapest operation.
func (v *visit) enter() *refusal {
	if v.reads == nil {
		return nil
	}
	left := v.reads.Peek(v.client, leastUnits)
	v.reads.left = &left
	if left.Wait == 0 {
		return nil
	}
	return clientReads.after(left.Wait)
}

// take takes units. It reports whether there were so many.
func (s *spending) take(ctx context.Context, client quota.Client, units float64) bool {
	s.charge = s.Take(ctx, client, units)
	s.left = &s.charge.Balance
	return s.charge.Wait == 0
}

// charge takes what an operation may cost. It returns why the operation is refused, or nil.
func (v *visit) charge(ctx context.Context, units float64, writes int) *refusal {
	if v.reads != nil && !v.reads.take(ctx, v.client, max(units, leastUnits)) {
		left := v.reads.charge.Balance
		return clientCost.after(left.Wait, whole(left.Units), int(math.Ceil(units)))
	}
	if v.writes != nil && writes > 0 && !v.writes.take(ctx, v.client, float64(writes)) {
		return clientWrites.after(v.writes.charge.Wait, int(v.writes.Policy().Burst))
	}
	return nil
}

// whole returns how many whole units are left, none in debt.
func whole(units float64) int { return max(0, int(units)) }

// due returns what the client pays for an operation that used so many units. One that was cut off
// pays at least what it was estimated at: calls under way are paid for, and nothing tells what they
// cost. One that its client could not pay is free: a client that retries too early would never have
// enough.
func (v *visit) due(ctx context.Context, used float64) float64 {
	switch {
	case v.refused != nil:
		return 0
	case ctx.Err() != nil:
		return max(used, v.reads.charge.Taken, leastUnits)
	}
	return max(used, leastUnits)
}

// settle corrects what was taken to what is due for the units that were used.
func (v *visit) settle(ctx context.Context, used float64) {
	if v == nil || v.reads == nil {
		return
	}
	left := v.reads.Settle(ctx, v.client, v.reads.charge, v.due(ctx, used))
	left.Wait = v.reads.left.Wait // of a refusal
	v.reads.left = &left
}

// tell tells the client what is left, in the RateLimit field.
func (v *visit) tell(header http.Header) {
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

// charging connects what operations cost to the visits of their clients.
type charging struct{}

// Charge implements limits.Quota.
func (charging) Charge(ctx context.Context, units float64, writes int) *gqlerror.Error {
	v := requestOf(ctx).visit
	if v == nil {
		return nil
	}
	if v.refused = v.charge(ctx, units, writes); v.refused == nil {
		return nil
	}
	return &gqlerror.Error{Message: v.refused.message, Extensions: map[string]any{"code": v.refused.code}}
}

// Left implements limits.Quota. An answer that its client may keep does not tell: it would be
// another one each time. The RateLimit field does, also without an answer.
func (charging) Left(ctx context.Context) (remaining int, resetAt time.Time, told bool) {
	v := requestOf(ctx).visit
	if v == nil || v.reads == nil || v.kept {
		return 0, time.Time{}, false
	}
	p := v.reads.Policy()
	used := max(usage.From(ctx).Units(), leastUnits)
	left := min(p.Burst, v.reads.charge.Units+v.reads.charge.Taken-used)
	full := time.Duration((p.Burst - left) / p.Rate * float64(time.Second))
	return whole(left), time.Now().Add(full), true
}
