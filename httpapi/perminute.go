package httpapi

import (
	"maps"
	"slices"
	"sync"
	"time"
)

// perMinute lets at most a fixed number of messages of each kind pass in a minute. At the end of
// the minute it reports how many more came. It is for messages that a client can cause by the
// thousand. Safe for concurrent use.
type perMinute[Kind comparable] struct {
	most int                       // messages
	tell func(kind Kind, more int) // at the end, if there were more

	mu    sync.Mutex
	begun map[Kind]*minute
}

// minute is one that has begun with a message.
type minute struct {
	passed, more int
	end          *time.Timer
}

func newPerMinute[Kind comparable](most int, tell func(kind Kind, more int)) *perMinute[Kind] {
	return &perMinute[Kind]{most: most, tell: tell, begun: map[Kind]*minute{}}
}

// pass reports whether a message passes, and counts it if not.
func (p *perMinute[Kind]) pass(kind Kind) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	m := p.begun[kind]
	if m == nil {
		m = &minute{end: time.AfterFunc(time.Minute, func() { p.end(kind) })}
		p.begun[kind] = m
	}
	if m.passed == p.most {
		m.more++
		return false
	}
	m.passed++
	return true
}

// end ends the minute of a kind, unless it has ended before.
func (p *perMinute[Kind]) end(kind Kind) {
	p.mu.Lock()
	m := p.begun[kind]
	delete(p.begun, kind)
	p.mu.Unlock()
	if m != nil && m.more > 0 {
		p.tell(kind, m.more)
	}
}

// close ends all minutes.
func (p *perMinute[Kind]) close() {
	p.mu.Lock()
	open := slices.Collect(maps.Keys(p.begun))
	for _, m := range p.begun {
		m.end.Stop()
	}
	p.mu.Unlock()
	for _, kind := range open {
		p.end(kind)
	}
}
