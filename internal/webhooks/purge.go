package webhooks

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/talkback/talkback/dynamo/outbox"
	"github.com/talkback/talkback/internal/edge"
)

// maxTags is the number of tags in one purge at most: Cloudflare takes 30, Fastly 256.
const maxTags = 30

// cdns are the CDNs that can be purged by tags. Each function returns the headers and the body of a
// purge, with the token and the tags.
var cdns = map[string]func(token string, tags []string) (header map[string]string, body any){
	// https://www.fastly.com/documentation/reference/api/purging/
	"fastly": func(token string, tags []string) (map[string]string, any) {
		return map[string]string{"Fastly-Key": token, "Surrogate-Key": strings.Join(tags, " "), "Accept": "application/json"}, nil
	},
	// https://developers.cloudflare.com/cache/how-to/purge-cache/purge-by-tags/
	"cloudflare": func(token string, tags []string) (map[string]string, any) {
		return map[string]string{"Authorization": "Bearer " + token}, map[string]any{"tags": tags}
	},
}

// errAddress does not contain the address, whose query may hold a secret.
var errAddress = errors.New("the address of the hook cannot be read")

// purgeRequest returns the request that makes a CDN drop all answers about the products of events.
func purgeRequest(ctx context.Context, cdn, address, token string, events []outbox.Event) (*http.Request, error) {
	var tags []string // each once
	for _, e := range events {
		if tag := edge.Tag(e.Product); !slices.Contains(tags, tag) {
			tags = append(tags, tag)
		}
	}
	header, content := cdns[cdn](token, tags)
	var body []byte
	if content != nil {
		body, _ = json.Marshal(content) // texts only
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(body))
	if err != nil {
		return nil, errAddress
	}
	for name, value := range header {
		request.Header.Set(name, value)
	}
	return request, nil
}
