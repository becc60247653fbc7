package telemetry

// Pages measures how pages are read. It implements the observer of package dynamo.
type Pages struct {
	estimated    sum
	units, waves histogram
	batches      histogram
	lookups      counter
}

func newPages(m meters) *Pages {
	return &Pages{
		estimated: m.sum("talkback.page.estimated_units"),
		units:     m.histogram("talkback.page.read_units"),
		waves:     m.histogram("talkback.page.waves"),
		batches:   m.histogram("talkback.loader.batch_size"),
		lookups:   m.counter("talkback.cache.lookups"),
	}
}

// PageRead measures a page that was read from the table.
func (m *Pages) PageRead(warm bool, estimated, consumed float64, waves int) {
	known := "cold"
	if warm {
		known = "warm"
	}
	m.waves.record(background, float64(waves), values{known})
	if estimated > 0 {
		m.estimated.add(background, estimated, values{known})
		m.units.record(background, consumed, values{known})
	}
}

// CacheLookup counts a look into a cache.
func (m *Pages) CacheLookup(cache string, hit bool) {
	result := "miss"
	if hit {
		result = "hit"
	}
	m.lookups.add(background, 1, values{cache, result})
}

// Batched measures how many keys were fetched together.
func (m *Pages) Batched(what string, keys int) {
	m.batches.record(background, float64(keys), values{what})
}
