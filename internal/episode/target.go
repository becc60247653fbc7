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

// callOf reads what a request calls.
func callOf(request *http.Request, body []byte) Call {
	service, operation, _ := strings.Cut(request.Header.Get("X-Amz-Target"), ".")
	return Call{Operation: operation, OfStream: strings.HasPrefix(service, "DynamoDBStreams"), Body: body}
}

// Target is the part of a table that an episode is about.
type Target struct {
	// Name says which part that is, in a printed schedule.
	Name string
	// Hits reports whether a call goes there.
	Hits func(Call) bool
}

// Everything is the table and its stream.
var Everything = Target{"the table and its stream", func(Call) bool { return true }}

// Table is the table with its indexes, and not its stream.
var Table = Target{"the table", func(c Call) bool { return !c.OfStream }}

// Stream is the table's stream.
var Stream = Target{"the stream", func(c Call) bool { return c.OfStream }}

// PageIndex is where the table keeps page numbers.
var PageIndex = Keys("the page index", "R#")

// Index is an index of the table. Calls that read it go there.
func Index(name string) Target {
	text := []byte(`"IndexName":` + quoted(name))
	return Target{"the index " + name, func(c Call) bool { return bytes.Contains(c.Body, text) }}
}

// Partition is the items with a partition key, in the table or an index. Calls that read or write
// such an item go there, as do batches and transactions with one.
func Partition(key string) Target {
	text := []byte(quoted(key))
	return Target{"the partition " + key, func(c Call) bool { return !c.OfStream && bytes.Contains(c.Body, text) }}
}

// Keys is the items with a key that begins with a prefix.
func Keys(name, prefix string) Target {
	text := []byte(strings.TrimSuffix(quoted(prefix), `"`))
	return Target{name, func(c Call) bool { return !c.OfStream && bytes.Contains(c.Body, text) }}
}

// quoted returns a text as JSON has it.
func quoted(text string) string {
	out, _ := json.Marshal(text) // a text can always be encoded
	return string(out)
}
