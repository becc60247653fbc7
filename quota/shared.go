package quota

import (
	"context"
	"time"
)

// Shared keeps the accounts of a policy in a store that several servers share. While the store is
// away, each server grants its share of the policy by itself. Clients that were in debt before stay
// so. Safe for concurrent use.
type Shared struct {
	policy Policy
	link   *Link
	known  *Ledger // what the store said last
	alone  *Ledger // the share of this server
}

// NewShared returns accounts in the store of a link. While the store is away, each server grants
// its share; servers is how many there are.
func NewShared(p Policy, link *Link, servers int) *Shared {
	return &Shared{policy: p, link: link, known: NewLedger(p), alone: NewLedger(p.Share(servers))}
}

// Policy returns what each client may use of all servers together.
func (s *Shared) Policy() Policy { return s.policy }

// Clients returns how many clients this server knows. Other servers may know more.
func (s *Shared) Clients() int { return max(s.known.Clients(), s.alone.Clients()) }

// Away reports whether the store is away, so that this server limits clients by itself.
func (s *Shared) Away() bool { return s.link.Away() }

// Peek returns what a client may use, and how long it waits for the given units. It does not ask
// the store: it returns what this server knows.
func (s *Shared) Peek(c Client, units float64) Balance {
	b := s.known.Peek(c, units)
	if b.Wait == 0 && s.link.Away() {
		return s.alone.Peek(c, units)
	}
	return b
}

// Take takes units from a client, or none if fewer are left.
func (s *Shared) Take(ctx context.Context, c Client, units float64) Charge {
	owed, taken, answered := s.change(ctx, c, Cost{Time: s.policy.timeOf(units)})
	if !answered {
		charge := s.alone.Take(ctx, c, units)
		charge.apart = true
		return charge
	}
	if !taken {
		b := s.policy.balance(owed)
		b.Wait = max(s.policy.wait(owed, units), time.Nanosecond) // time may have passed since
		return Charge{Balance: b}
	}
	return Charge{Balance: s.policy.balance(owed), Taken: units}
}

// Settle corrects a charge to the units used, and returns the balance. A correction that the store
// does not take is lost: the client pays the charge.
func (s *Shared) Settle(ctx context.Context, c Client, charge Charge, used float64) Balance {
	if charge.apart {
		return s.alone.Settle(ctx, c, charge, used)
	}
	owed, _, answered := s.change(ctx, c, Cost{Time: s.policy.timeOf(used - charge.Taken), Forced: true})
	if !answered {
		return charge.Balance
	}
	return s.policy.balance(owed)
}

// change changes an account in the store, and notes the result. It reports whether the store
// answered.
func (s *Shared) change(ctx context.Context, c Client, cost Cost) (owed time.Duration, changed, answered bool) {
	if owed, changed, answered = s.link.change(ctx, s.policy, c, cost); answered {
		s.known.note(c, owed)
	}
	return owed, changed, answered
}
