package telemetry

// Kind is the kind of an instrument.
type Kind string

// The kinds of instruments.
const (
	// Counter only rises.
	Counter Kind = "counter"
	// UpDown rises and falls.
	UpDown Kind = "updown"
	// Gauge is read when metrics are collected.
	Gauge Kind = "gauge"
	// Histogram counts values by their size.
	Histogram Kind = "histogram"
)

// Attribute tells series of an instrument apart.
type Attribute struct {
	Key string
	// Values are all values that it can have. Any other becomes Other. If there are none, it can have
	// any value: operators choose them, and they are few.
	Values []string
}

// Other replaces values that an attribute cannot have.
const Other = "_OTHER"

// Instrument is a row of the table of instruments.
type Instrument struct {
	// Name, Unit and Description are those of OpenTelemetry. Units are UCUM's.
	Name, Unit, Description string
	Kind                    Kind
	// Fractional is whether a counter adds up amounts that need not be whole.
	Fractional bool
	// Watched is whether a counter is read when metrics are collected, as every gauge is.
	Watched bool
	// Buckets are the bounds of a histogram.
	Buckets []float64
	// Attributes tell its series apart.
	Attributes []Attribute
}

// Buckets; those of HTTP and of databases, in seconds, are as the semantic conventions advise.
var (
	requestBuckets = []float64{.005, .01, .025, .05, .075, .1, .25, .5, .75, 1, 2.5, 5, 7.5, 10}
	callBuckets    = []float64{.001, .005, .01, .05, .1, .5, 1, 5, 10}
	unitBuckets    = []float64{.5, 1, 1.5, 2, 3, 4, 6, 10, 20, 50, 100, 200}
	waveBuckets    = []float64{1, 2, 3, 4, 6, 10}
	batchBuckets   = []float64{1, 2, 5, 10, 25, 50, 100}
)

var (
	method    = Attribute{"http.request.method", []string{"GET", "HEAD", "POST", "PUT", "DELETE", "CONNECT", "OPTIONS", "TRACE", "PATCH"}}
	scheme    = Attribute{"url.scheme", []string{"http", "https"}}
	operation = Attribute{"graphql.operation.type", []string{"query", "mutation", "subscription", "none"}}
	outcome   = Attribute{"talkback.outcome", []string{"ok", "partial", "failed", "refused"}}
	call      = Attribute{"db.operation.name", []string{
		"Query", "Scan", "GetItem", "BatchGetItem", "PutItem", "UpdateItem", "DeleteItem", "BatchWriteItem", "TransactWriteItems", "TransactGetItems",
		"DescribeTable", "CreateTable", "ListTables", "DescribeTimeToLive", "UpdateTimeToLive",
		"DescribeStream", "GetShardIterator", "GetRecords",
	}}
	system    = Attribute{"db.system.name", []string{"aws.dynamodb"}}
	index     = Attribute{"talkback.index", []string{"table", "all", "byLang", "byRating", "byLangAndRating", "boards", "byAuthor", "byHelpful", "byMedia"}}
	knowledge = Attribute{"talkback.knowledge", []string{"cold", "warm"}}
	purpose   = Attribute{"talkback.purpose", []string{
		"PAGE", "SKIP", "PROBE", "COUNT", "COMMENT", "STATISTICS", "LEADERBOARD", "PAGE_NUMBERS",
		"COUNTING", "LEASE", "OUTBOX", "REBUILD", "MAINTENANCE",
	}}
)

var deliveryOutcomes = []string{"delivered", "failed", "dead_lettered"}

// codes are the codes of errors, as docs/guide/errors.md lists them.
var codes = []string{
	"BAD_INPUT", "BAD_CURSOR", "THROTTLED", "UNAVAILABLE", "TIMEOUT", "CANCELED", "NOT_FOUND", "CONFLICT", "KEY_REUSED", "ALREADY_WRITTEN",
	"UNAUTHENTICATED", "FORBIDDEN", "TOO_MUCH_TEXT", "TOO_COSTLY", "OVERLOADED", "INTERNAL",
	"GRAPHQL_PARSE_FAILED", "GRAPHQL_VALIDATION_FAILED",
	"BAD_REQUEST", "BATCH_NOT_ALLOWED", "CSRF_REFUSED", "METHOD_NOT_ALLOWED", "BODY_TOO_LARGE", "QUERY_TOO_LONG", "TOO_MANY_HEADER_FIELDS", "UNSUPPORTED_MEDIA_TYPE", "RATE_LIMITED",
	"NO_SUBSCRIPTIONS", "SUBSCRIPTION_NEEDS_STREAM", "TOO_MANY_SUBSCRIPTIONS", "EVENT_READS",
	"PERSISTED_QUERY_NOT_FOUND", "PERSISTED_QUERY_NOT_SUPPORTED", "PERSISTED_QUERY_HASH_MISMATCH", "DOCUMENT_NOT_FOUND", "DOCUMENT_NOT_TRUSTED",
	"TOO_MANY_TOKENS", "NESTED_TOO_DEEP", "NAME_TOO_LONG", "TOO_MANY_OPERATIONS", "TOO_MANY_FRAGMENTS", "TOO_DEEP", "TOO_MANY_FIELDS",
	"SELECTION_TOO_LONG", "TOO_MANY_ROOT_FIELDS", "TOO_MANY_ALIASES", "TOO_MANY_OVERLAPS", "TOO_MANY_DIRECTIVES",
	"VALUE_TOO_DEEP", "LIST_TOO_LONG", "TOO_MANY_VARIABLES", "VARIABLES_TOO_LARGE",
	"TOO_COMPLEX", "ANSWER_TOO_LARGE", "ANSWER_TOO_MANY_BYTES", "TOO_MANY_INTROSPECTIONS", "INTROSPECTION_OFF", "TOO_MANY_ERRORS",
}

// instruments is the table of everything that a process measures, the one place for names, units
// and attributes. Tests compare docs/operate/metrics.md, the dashboard and the alerts with it.
var instruments = []Instrument{
	{
		Name: "http.server.request.duration", Unit: "s", Kind: Histogram, Buckets: requestBuckets,
		Description: "Duration of HTTP requests, from the end of the head until the answer is sent.",
		Attributes: []Attribute{
			method, scheme,
			{"http.route", []string{"/graphql", "/", "/products/{id}", "/healthz", "/readyz", "/{file}"}},
			{"http.response.status_code", []string{
				"101", "200", "204", "206", "301", "302", "304", "308", "400", "401", "403", "404", "405", "406", "408", "413", "414", "415", "416", "429", "431", "500", "503",
			}},
		},
	},
	{
		Name: "http.server.active_requests", Unit: "{request}", Kind: UpDown,
		Description: "HTTP requests whose answers are not sent completely.",
		Attributes:  []Attribute{method, scheme},
	},
	{
		Name: "talkback.operation.duration", Unit: "s", Kind: Histogram, Buckets: requestBuckets,
		Description: "Duration of requests to the API, until the answer is sent.",
		Attributes:  []Attribute{operation, outcome},
	},
	{
		Name: "talkback.operations", Unit: "{operation}", Kind: Counter,
		Description: "Requests to the API by the code of their first error, if any.",
		Attributes:  []Attribute{operation, outcome, {"error.type", append([]string{"none"}, codes...)}},
	},
	{
		Name: "talkback.operation.estimated_units", Unit: "{read_unit}", Kind: Counter, Fractional: true,
		Description: "Read units that operations were charged beforehand.",
		Attributes:  []Attribute{operation},
	},
	{
		Name: "talkback.operation.read_units", Unit: "{read_unit}", Kind: Counter, Fractional: true,
		Description: "Read units that operations consumed.",
		Attributes:  []Attribute{operation},
	},
	{
		Name: "talkback.refusals", Unit: "{request}", Kind: Counter,
		Description: "Requests to the API that a limit of the server refused.",
		Attributes:  []Attribute{{"talkback.reason", []string{"limit", "queue", "arriving", "unread", "client-reads", "client-writes", "subscriptions", "client-subscriptions"}}},
	},
	{
		Name: "talkback.api.limit", Unit: "{request}", Kind: Gauge,
		Description: "Requests to the API that are let in at a time, as the adaptive limit has it now.",
	},
	{
		Name: "talkback.api.in_flight", Unit: "{request}", Kind: Gauge,
		Description: "Requests to the API that are being processed.",
	},
	{
		Name: "talkback.api.queued", Unit: "{request}", Kind: Gauge,
		Description: "Requests to the API that wait for a place.",
	},
	{
		Name: "talkback.client_limits.clients", Unit: "{client}", Kind: Gauge,
		Description: "Clients that used some of their limits lately, as this server counts them.",
		Attributes:  []Attribute{{"talkback.policy", []string{"read-units", "writes"}}},
	},
	{
		Name: "talkback.client_limits.store_available", Unit: "{store}", Kind: Gauge,
		Description: "1 while the Redis of client limits answers, 0 while this server limits clients by itself.",
	},
	{
		Name: "db.client.operation.duration", Unit: "s", Kind: Histogram, Buckets: callBuckets,
		Description: "Duration of attempts of calls to the table and its stream, until the head of the answer.",
		Attributes: []Attribute{system, call, {"error.type", []string{
			"none", "400", "403", "413", "500", "502", "503", "504", "timeout", "canceled", "connection",
		}}},
	},
	{
		Name: "talkback.table.retries", Unit: "{attempt}", Kind: Counter,
		Description: "Attempts of calls after the first.",
		Attributes:  []Attribute{call},
	},
	{
		Name: "talkback.table.throttles", Unit: "{attempt}", Kind: Counter,
		Description: "Attempts that DynamoDB throttled: it refused them, or left a part unprocessed.",
		Attributes:  []Attribute{call},
	},
	{
		Name: "talkback.table.hedges", Unit: "{read}", Kind: Counter,
		Description: "Slow reads that were made twice, by which call answered first.",
		Attributes:  []Attribute{{"talkback.winner", []string{"first", "second"}}},
	},
	{
		Name: "talkback.table.read_units", Unit: "{read_unit}", Kind: Counter, Fractional: true,
		Description: "Read units that calls consumed.",
		Attributes:  []Attribute{index, purpose},
	},
	{
		Name: "talkback.table.write_units", Unit: "{write_unit}", Kind: Counter, Fractional: true,
		Description: "Write units that calls consumed.",
		Attributes:  []Attribute{index, purpose},
	},
	{
		Name: "talkback.page.estimated_units", Unit: "{read_unit}", Kind: Counter, Fractional: true,
		Description: "Read units that plans of pages were estimated to consume, if there were several plans to choose from.",
		Attributes:  []Attribute{knowledge},
	},
	{
		Name: "talkback.page.read_units", Unit: "{read_unit}", Kind: Histogram, Buckets: unitBuckets,
		Description: "Read units that the same plans consumed.",
		Attributes:  []Attribute{knowledge},
	},
	{
		Name: "talkback.page.waves", Unit: "{wave}", Kind: Histogram, Buckets: waveBuckets,
		Description: "Waves of reads for each page that was read from the table.",
		Attributes:  []Attribute{knowledge},
	},
	{
		Name: "talkback.cache.lookups", Unit: "{lookup}", Kind: Counter,
		Description: "Lookups in the page cache, and in the statistics that a server remembers.",
		Attributes:  []Attribute{{"talkback.cache", []string{"pages", "statistics"}}, {"talkback.result", []string{"hit", "miss"}}},
	},
	{
		Name: "talkback.loader.batch_size", Unit: "{key}", Kind: Histogram, Buckets: batchBuckets,
		Description: "Keys that fields of one request fetched together.",
		Attributes:  []Attribute{{"talkback.loader", []string{"comments", "comments without texts", "statistics", "counts of languages", "own comments", "own votes", "newest comments", "newest comments without texts"}}},
	},
	{
		Name: "talkback.stream.lag", Unit: "s", Kind: Gauge,
		Description: "How far the statistics are behind the comments, while they are complete.",
	},
	{
		Name: "talkback.stream.complete", Unit: "{table}", Kind: Gauge,
		Description: "1 if counts are right up to the lag, 0 while they may be wrong or their state is unknown.",
	},
	{
		Name: "talkback.stream.shards", Unit: "{shard}", Kind: Gauge,
		Description: "Shards of the stream that this process reads.",
	},
	{
		Name: "talkback.stream.records", Unit: "{record}", Kind: Counter,
		Description: "Records of the stream that were processed.",
	},
	{
		Name: "talkback.stream.heartbeats", Unit: "{heartbeat}", Kind: Counter,
		Description: "Heartbeats that were sent, and that came through the stream, also those of other processes.",
		Attributes:  []Attribute{{"talkback.direction", []string{"sent", "received"}}},
	},
	{
		Name: "talkback.stream.dead_letters", Unit: "{record}", Kind: Counter,
		Description: "Records that were dead-lettered.",
	},
	{
		Name: "talkback.stream.gaps", Unit: "{gap}", Kind: Counter,
		Description: "Gaps that were found: records lost unread, or dead-lettered.",
	},
	{
		Name: "talkback.hook.deliveries", Unit: "{attempt}", Kind: Counter,
		Description: "Tries of this process to deliver an event to a hook.",
		Attributes:  []Attribute{{Key: "talkback.hook"}, {"talkback.outcome", deliveryOutcomes}},
	},
	{
		Name: "talkback.hook.lag", Unit: "s", Kind: Gauge,
		Description: "Age of the oldest event that waits for a hook, also of hooks that other processes deliver.",
		Attributes:  []Attribute{{Key: "talkback.hook"}},
	},
	{
		Name: "talkback.hook.paused", Unit: "{hook}", Kind: Gauge,
		Description: "1 while a hook is paused.",
		Attributes:  []Attribute{{Key: "talkback.hook"}},
	},
	{
		Name: "talkback.subscriptions.open", Unit: "{subscription}", Kind: Gauge,
		Description: "Open subscriptions.",
		Attributes:  []Attribute{{"talkback.transport", []string{"websocket", "sse", "multipart"}}},
	},
	{
		Name: "talkback.subscriptions.connections", Unit: "{connection}", Kind: Gauge,
		Description: "WebSockets, and streams of events over HTTP.",
	},
	{
		Name: "talkback.subscriptions.sent", Unit: "{event}", Kind: Counter, Watched: true,
		Description: "Events that were sent to subscribers.",
	},
	{
		Name: "talkback.subscriptions.dropped", Unit: "{subscription}", Kind: Counter, Watched: true,
		Description: "Subscriptions that were ended, since their clients read too slowly.",
	},
	{
		Name: "talkback.outbox.age", Unit: "s", Kind: Gauge,
		Description: "Age of the newest event that this process read for its subscribers.",
	},
	{
		Name: "talkback.page_index.lag", Unit: "s", Kind: Gauge,
		Description: "How far the index of page numbers is behind the comments.",
	},
	{
		Name: "talkback.page_index.available", Unit: "{index}", Kind: Gauge,
		Description: "1 while page numbers are answered, 0 while they are UNAVAILABLE.",
	},
	{
		Name: "talkback.clock.offset", Unit: "s", Kind: Gauge,
		Description: "How far the clock of this machine is ahead of the table's; negative if it is behind, 0 within a second.",
	},
	{
		Name: "process.uptime", Unit: "s", Kind: Gauge,
		Description: "Time since the process began to serve or to count.",
	},
}

// Instruments returns the table of instruments.
func Instruments() []Instrument { return instruments }
