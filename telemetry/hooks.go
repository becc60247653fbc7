package telemetry

// Hooks measures deliveries to hooks.
type Hooks struct{ deliveries counter }

func newHooks(m meters) *Hooks { return &Hooks{m.counter("talkback.hook.deliveries")} }

// Tried counts a try to deliver an event of a hook.
func (m *Hooks) Tried(hook, outcome string) { m.deliveries.add(background, 1, values{hook, outcome}) }

// Known shows the counters of a hook from now on, so that the first event is seen as a rise.
func (m *Hooks) Known(hook string) {
	for _, outcome := range deliveryOutcomes {
		m.deliveries.add(background, 0, values{hook, outcome})
	}
}
