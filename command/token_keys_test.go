package command_test

import (
	"context"
	"net/http"
	"testing"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/internal/dynamotest"
)

// keysAreFetched is an authorizer that has to fetch keys for each token.
type keysAreFetched struct {
	asked   chan struct{} // a request sends to it when it begins to wait
	fetched chan struct{} // closed once the keys are there
}

// Identify implements auth.Authorizer.
func (k keysAreFetched) Identify(ctx context.Context) (comment.Viewer, error) {
	select {
	case k.asked <- struct{}{}:
	default:
	}
	<-k.fetched
	return comment.Viewer{}, nil
}

// While the host of the keys is slow, requests whose token waits for them do not take up the
// server's places.
func TestTokensWaitForKeysAlone(t *testing.T) {
	t.Parallel()
	keys := keysAreFetched{make(chan struct{}, 1), make(chan struct{})}
	a := &api{tb: t, session: newSession(t, dynamotest.Dynoxide(t)), authorizer: keys}
	a.markCounted()
	a.serve.MinInFlight, a.serve.MaxInFlight = 1, 1
	a.useClient(a.session.Client)
	ask := func(query, token string) sent {
		got, err := send(t.Context(), http.DefaultTransport, http.MethodPost, a.server.URL+"/graphql", operation(query, nil), bearer(token))
		if err != nil {
			t.Error(err)
		}
		return got
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		if got := ask("{ viewer { mayWrite } }", "made up"); got.status != http.StatusOK {
			t.Errorf("once there are keys: %d %s", got.status, got.body)
		}
	}()
	<-keys.asked
	if got := ask("{ __typename }", ""); got.status != http.StatusOK {
		t.Errorf("beside a token that waits for keys: %d %s", got.status, got.body)
	}
	close(keys.fetched)
	<-done
}
