package gateway

import (
	"encoding/json"
	"fmt"
	"net/http"
)

// refusal is the answer to a request that no handler answers. It has the form of a GraphQL error.
type refusal struct {
	status        int
	code, message string
}

// Error implements error.
func (r *refusal) Error() string { return r.message }

var (
	badBody  = &refusal{http.StatusBadRequest, "BAD_REQUEST", "the body is not base64, though its event says so"}
	badHead  = &refusal{http.StatusBadRequest, "BAD_REQUEST", "the method or the address cannot be read: send a request of HTTP"}
	oldForm  = &refusal{http.StatusInternalServerError, "INTERNAL", "this function takes events of payload format 2.0: use a function URL, an HTTP API with that format, or an application load balancer"}
	panicked = &refusal{http.StatusInternalServerError, "INTERNAL", "something went wrong"}
	tooLarge = refusal{http.StatusInternalServerError, "ANSWER_TOO_LARGE", "the answer is larger than the %d MB that can be sent from here: ask for less at a time, such as smaller pages, and accept gzip"}
)

// noRequest is the error for an event that holds no HTTP request. It names the service that sent the
// event, if records of it do.
func noRequest(payload []byte) error {
	var event struct {
		Records []struct {
			Source string `json:"eventSource"`
		}
	}
	from := ""
	if err := json.Unmarshal(payload, &event); err == nil && len(event.Records) > 0 {
		from = fmt.Sprintf(" but comes from %.40q", event.Records[0].Source)
	}
	return fmt.Errorf("the event is no HTTP request%s: invoke this function by a function URL, by an HTTP API of API Gateway with payload format 2.0, or by an application load balancer; one that counts comments has TALKBACK_FUNCTION=count", from)
}
