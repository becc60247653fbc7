package roundtrip

import (
	"slices"
	"sync"
	"time"
)

// idle are the connections that no request uses. A connection is closed when it was idle for the
// timeout, at the latest for twice as long.
type idle struct {
	most    int           // connections for a place
	timeout time.Duration // 0 is none

	mu     sync.Mutex
	conns  map[place][]*conn // the one used last is the last
	waking bool              // a timer runs
}

func newIdle(most int, timeout time.Duration) *idle {
	return &idle{most: most, timeout: timeout, conns: map[place][]*conn{}}
}

// take returns the connection that was used last, nil if there is none.
func (i *idle) take(to place) *conn {
	i.mu.Lock()
	defer i.mu.Unlock()
	last := len(i.conns[to]) - 1
	if last < 0 {
		return nil
	}
	c := i.conns[to][last]
	i.conns[to] = slices.Delete(i.conns[to], last, last+1)
	return c
}

// put keeps a connection, or closes it if there are too many.
func (i *idle) put(c *conn) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if len(i.conns[c.to]) >= i.most {
		c.close()
		return
	}
	c.idleSince = time.Now()
	i.conns[c.to] = append(i.conns[c.to], c)
	i.wake()
}

// wake has connections closed in time. It is called with the lock.
func (i *idle) wake() {
	if !i.waking && i.timeout > 0 {
		i.waking = true
		time.AfterFunc(i.timeout, i.closeOld)
	}
}

func (i *idle) closeOld() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.waking = false
	for to := range i.conns {
		i.conns[to] = slices.DeleteFunc(i.conns[to], func(c *conn) bool {
			old := time.Since(c.idleSince) >= i.timeout
			if old {
				c.close()
			}
			return old
		})
		if len(i.conns[to]) > 0 {
			i.wake()
		}
	}
}
