// Package episode puts a table in trouble for a while: a part of it is throttled, slow, silent or
// away, and then recovers. A schedule of such episodes is drawn from a seed. Package faulttest
// makes single calls fail; an episode makes all calls to one target fail in one way. Only tests
// import it.
//
//	network := episode.Over(http.DefaultClient)
//	proxy := httptest.NewServer(network.To(engineURL)) // `talkback serve --endpoint` goes there
//	schedule := episode.Draw(seed, episode.Plan{Episodes: 8})
//	fmt.Print(schedule)
//	network.Play(ctx, schedule)
package episode
