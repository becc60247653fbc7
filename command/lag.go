package command

import (
	"context"
	"time"
)

const (
	// lookForLag is how often the lag is looked at.
	lookForLag = 10 * time.Second
	// worryingLag is a lag that is told.
	worryingLag = time.Minute
)

// watchLag logs how far the statistics are behind, when that is much.
func (c *counting) watchLag(ctx context.Context) error {
	for told := time.Duration(0); ; {
		rest(ctx, lookForLag)
		before, known, _, err := c.leases.WorkedOff(ctx)
		if err != nil || ctx.Err() != nil {
			return err
		}
		if !known {
			continue
		}
		lag := time.Since(before)
		switch tell, now := tellLag(told, lag); {
		case tell && now > 0:
			c.log.Warn("the statistics are behind the comments", "lag", lag.Round(time.Second))
			told = now
		case tell:
			c.log.Info("the statistics have caught up with the comments", "lag", lag.Round(time.Millisecond))
			told = 0
		}
	}
}

// tellLag decides whether a lag is worth telling after another that was told last, 0 for none: one that worries, then one
// twice as large, and the end of it. It returns what was told last then.
func tellLag(told, lag time.Duration) (tell bool, now time.Duration) {
	switch {
	case lag >= worryingLag && lag >= 2*told:
		return true, lag
	case told > 0 && lag < worryingLag:
		return true, 0
	}
	return false, told
}
