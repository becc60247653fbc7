package command_test

import (
	"context"
	"io"
	"net/http"
	"strings"
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

// While the host of the keys is slow, requests whose token waits for them do not take up the server's places.
func TestTokensWaitForKeysAlone(t *testing.T) {
	t.Parallel()
	keys := keysAreFetched{make(chan struct{}, 1), make(chan struct{})}
	a := &api{tb: t, session: newSession(t, dynamotest.Dynoxide(t)), authorizer: keys}
	a.markCounted()
	a.serve.MinInFlight, a.serve.MaxInFlight = 1, 1
	a.useClient(a.session.Client)
	post := func(query, token string) (int, string) {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, a.server.URL+"/graphql", strings.NewReader(`{"query": "`+query+`"}`))
		if err != nil {
			t.Error(err)
			return 0, ""
		}
		if token != "" {
			request.Header.Set("Authorization", "Bearer "+token)
		}
		request.Header.Set("Content-Type", "application/json")
		answer, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Error(err)
			return 0, ""
		}
		defer answer.Body.Close()
		text, err := io.ReadAll(answer.Body)
		if err != nil {
			t.Error(err)
		}
		return answer.StatusCode, string(text)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		if status, text := post("{ viewer { mayWrite } }", "made up"); status != http.StatusOK {
			t.Errorf("once there are keys: %d %s", status, text)
		}
	}()
	<-keys.asked
	if status, text := post("{ __typename }", ""); status != http.StatusOK {
		t.Errorf("beside a token that waits for keys: %d %s", status, text)
	}
	close(keys.fetched)
	<-done
}
