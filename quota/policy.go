// Package quota bounds what each client may use of something over time, such as read units: a burst
// at once, and a rate each second. It decides by the generic cell rate algorithm (GCRA), the token
// bucket that needs a single number for each client: the time at which its whole burst is available
// again.
//
// A Ledger keeps the accounts of one process in bounded memory. Shared keeps them in a store that
// several servers share, and bounds clients by itself while that store is away.
package quota

import (
	"math"
	"time"
)

// Policy is how much each client may use. Both amounts are above 0.
type Policy struct {
	// Name names the policy in answers, such as "read-units".
	Name string
	// Rate is how many units become available each second.
	Rate float64
	// Burst is how many units a client may use at once after it used none for a while.
	Burst float64
}

// Share returns the part of the policy that one of several servers grants. Its burst is 1 at least:
// a client that has its whole burst may use that much at any server.
func (p Policy) Share(servers int) Policy {
	p.Rate, p.Burst = p.Rate/float64(servers), max(1, p.Burst/float64(servers))
	return p
}

// Window is the time in which a whole burst becomes available again.
func (p Policy) Window() time.Duration { return p.timeOf(p.Burst) }

// longestDebt bounds how long a client is in debt because operations cost more than was estimated.
const longestDebt = time.Hour

// Longest is the longest time until a client has its whole burst again, unless an operation was
// estimated at more than that.
func (p Policy) Longest() time.Duration { return p.Window() + longestDebt }

// timeOf returns the time in which the given units become available.
func (p Policy) timeOf(units float64) time.Duration {
	return time.Duration(math.Ceil(units / p.Rate * float64(time.Second)))
}

// Balance is what a client may use of a policy at a moment.
type Balance struct {
	// Units is the number of units left. A client with a negative balance is in debt.
	Units float64
	// Wait is the time until the requested units are available, 0 if they were granted.
	Wait time.Duration
}

// balance describes an account by the time that it owes: after that time, the whole burst is
// available again.
func (p Policy) balance(owed time.Duration) Balance {
	return Balance{Units: p.Burst - owed.Seconds()*p.Rate}
}

// take takes units from an account, and returns what it owes then. It takes none if fewer are left.
// More units than a burst are taken from a client that has its whole burst, which puts it in debt:
// otherwise, no wait would be long enough.
func (p Policy) take(owed time.Duration, units float64) (after time.Duration, b Balance) {
	if wait := p.wait(owed, units); wait > 0 {
		b = p.balance(owed)
		b.Wait = wait
		return owed, b
	}
	after = owed + p.timeOf(units)
	return after, p.balance(after)
}

// wait returns the time until an account has the given units, or its whole burst if that is less.
// It is 0 if the account has them.
func (p Policy) wait(owed time.Duration, units float64) time.Duration {
	return max(0, owed+p.timeOf(min(units, p.Burst))-p.Window())
}

// settle adds units to what an account owes, or with a negative number, gives them back.
func (p Policy) settle(owed time.Duration, units float64) time.Duration {
	after := owed + p.timeOf(units)
	if units > 0 {
		after = min(after, max(owed, p.Longest()))
	}
	return max(0, after)
}
