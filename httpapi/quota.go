package httpapi

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/vektah/gqlparser/v2/gqlerror"

	"github.com/talkback/talkback/internal/edge"
	"github.com/talkback/talkback/internal/usage"
	"github.com/talkback/talkback/quota"
)

// ClientLimits bound what each client may use over time. docs/design/client-limits.md says why they
// are as they are.
type ClientLimits struct {
	// Client returns which client sent a request, and whether it is limited. Required. It is called
	// after Authenticate.
	Client func(*http.Request) (c quota.Client, limited bool)
	// Reads is what clients may read, in read units. Nil for any number.
	Reads Quota
	// Writes is how many comments clients may add, edit and delete. Nil for any number.
	Writes Quota
}

// perClient refuses a client that has used up its quota, before it takes anything that others wait
// for. It tells every client how much is left.
func (c *ClientLimits) perClient(next http.Handler) http.Handler {
	if c == nil {
		return next
	}
	var items []string
	for _, limit := range []Quota{c.Reads, c.Writes} {
		if limit != nil {
			p := limit.Policy()
			items = append(items, fmt.Sprintf("%q;q=%d;w=%d", p.Name, int(p.Burst), seconds(p.Window())))
		}
	}
	policies := strings.Join(items, ", ")
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		client, limited := c.Client(r)
		if !limited {
			next.ServeHTTP(w, r)
			return
		}
		v := c.limit(client, r.Method)
		w.Header().Set("RateLimit-Policy", policies)
		if refused := v.enter(); refused != nil {
			v.report(w.Header())
			refused.write(w)
			return
		}
		requestOf(r.Context()).limited = v
		next.ServeHTTP(w, r)
		if edge.Allowed(w.Header()) { // a shared cache would show others this client's balance
			w.Header().Del("RateLimit-Policy")
			return
		}
		v.report(w.Header())
	})
}

func (c *ClientLimits) limit(client quota.Client, method string) *limitedRequest {
	v := &limitedRequest{client: client, byGET: method == http.MethodGet}
	if c.Reads != nil {
		v.reads = &spending{Quota: c.Reads}
	}
	if c.Writes != nil {
		v.writes = &spending{Quota: c.Writes}
	}
	return v
}

// chargeClient charges an operation to the quotas of its client: see [limits.Guard].
func chargeClient(ctx context.Context, units float64, writes int) *gqlerror.Error {
	v := requestOf(ctx).limited
	if v == nil {
		return nil
	}
	if v.refused = v.charge(ctx, units, writes); v.refused == nil {
		return nil
	}
	return v.refused.graphQL()
}

// leftOfClient returns the balance of the client after an operation: see [limits.Guard]. An answer
// that its client may cache leaves it out, since it would differ each time. The RateLimit header
// always has it.
func leftOfClient(ctx context.Context) (remaining int, resetAt time.Time, known bool) {
	v := requestOf(ctx).limited
	if v == nil || v.reads == nil || v.byGET {
		return 0, time.Time{}, false
	}
	p := v.reads.Policy()
	used := max(usage.From(ctx).Units(), leastUnits)
	left := min(p.Burst, v.reads.charge.Units+v.reads.charge.Taken-used)
	full := time.Duration((p.Burst - left) / p.Rate * float64(time.Second))
	return whole(left), time.Now().Add(full), true
}
