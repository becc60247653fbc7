package telemetry

// Stream measures how the table's stream is read. It implements the observer of package stream.
type Stream struct {
	heartbeats                 counter
	records, deadLetters, gaps counter
}

func newStream(m meters) *Stream {
	return &Stream{
		heartbeats:  m.counter("talkback.stream.heartbeats"),
		records:     m.counter("talkback.stream.records"),
		deadLetters: m.counter("talkback.stream.dead_letters"),
		gaps:        m.counter("talkback.stream.gaps"),
	}
}

// HeartbeatSent counts a heartbeat that was written.
func (m *Stream) HeartbeatSent() { m.heartbeats.add(background, 1, values{"sent"}) }

// HeartbeatReceived counts a heartbeat that came through the stream.
func (m *Stream) HeartbeatReceived() { m.heartbeats.add(background, 1, values{"received"}) }

// Processed counts records that were processed.
func (m *Stream) Processed(records int) { m.records.add(background, records, values{}) }

// DeadLettered counts a record that was dead-lettered.
func (m *Stream) DeadLettered() { m.deadLetters.add(background, 1, values{}) }

// GapFound counts a gap.
func (m *Stream) GapFound() { m.gaps.add(background, 1, values{}) }

// zero shows the counters from the start, so that the first event is seen as a rise.
func (m *Stream) zero() {
	for _, c := range []counter{m.records, m.deadLetters, m.gaps} {
		c.add(background, 0, values{})
	}
	for _, direction := range []string{"sent", "received"} {
		m.heartbeats.add(background, 0, values{direction})
	}
}
