package episode

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"
)

// Call is a call to the table or to its stream.
type Call struct {
	// Operation is the name of the call, such as "Query".
	Operation string
	// OfStream says that the stream is called, and not the table.
	OfStream bool
	// Body is what is sent, as JSON.
	Body []byte
}

// callOf parses the call in a request.
func callOf(request *http.Request, body []byte) Call {
	service, operation, _ := strings.Cut(request.Header.Get("X-Amz-Target"), ".")
	return Call{Operation: operation, OfStream: strings.HasPrefix(service, "DynamoDBStreams"), Body: body}
}

// Target is the part of a table that an episode hits.
type Target struct {
	// Name says which part that is, in a printed schedule.
	Name string
	// Hits reports whether a call goes there.
	Hits func(Call) bool
}

// Everything is the table and its stream.
var Everything = Target{"the table and its stream", func(Call) bool { return true }}

// Table is the table with its indexes, without its stream.
var Table = Target{"the table", func(c Call) bool { return !c.OfStream }}

// Stream is the table's stream.
var Stream = Target{"the stream", func(c Call) bool { return c.OfStream }}

// PageIndex is the part of the table that stores page numbers.
var PageIndex = Keys("the page index", "R#")

// Index is an index of the table. It matches the calls that read it.
func Index(name string) Target {
	text := []byte(`"IndexName":` + quoted(name))
	return Target{"the index " + name, func(c Call) bool { return bytes.Contains(c.Body, text) }}
}

// Partition is the items with a partition key, in the table or an index. It matches calls that read
// or write such an item, also in a batch or a transaction.
func Partition(key string) Target {
	text := []byte(quoted(key))
	return Target{"the partition " + key, func(c Call) bool { return !c.OfStream && bytes.Contains(c.Body, text) }}
}

// Keys is the items whose key begins with a prefix.
func Keys(name, prefix string) Target {
	text := []byte(strings.TrimSuffix(quoted(prefix), `"`))
	return Target{name, func(c Call) bool { return !c.OfStream && bytes.Contains(c.Body, text) }}
}

// quoted returns a text as a JSON string.
func quoted(text string) string {
	out, _ := json.Marshal(text) // a text can always be encoded
	return string(out)
}
