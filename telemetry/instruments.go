package telemetry

// Kind is what an instrument measures with.
type Kind string

// The kinds of instruments.
const (
	// Counter only rises.
	Counter Kind = "counter"
	// UpDown rises and falls with what is added and taken away.
	UpDown Kind = "updown"
	// Gauge is looked at when it is collected.
	Gauge Kind = "gauge"
	// Histogram counts values by their size.
	Histogram Kind = "histogram"
)

// Attribute tells series of an instrument apart.
type Attribute struct {
	// Key is its name.
	Key string
	// Values are all that it can have. Any other value is told as Other.
	Values []string
}

// Other stands for all values that an attribute does not have.
const Other = "_OTHER"

// Instrument is a row of the table of instruments.
type Instrument struct {
	// Name, Unit and Description are those of OpenTelemetry. Units are UCUM's.
	Name, Unit, Description string
	// Kind is what it measures with.
	Kind Kind
	// Whole says that its values are whole numbers.
	Whole bool
	// Buckets are the bounds of a histogram.
	Buckets []float64
	// Attributes tell its series apart.
	Attributes []Attribute
	// Foreign says that a library measures it.
	Foreign bool
}

// Buckets of durations in seconds. Those of HTTP and of databases are the ones that the semantic
// conventions advise.
var (
	requestBuckets = []float64{.005, .01, .025, .05, .075, .1, .25, .5, .75, 1, 2.5, 5, 7.5, 10}
	callBuckets    = []float64{.001, .005, .01, .05, .1, .5, 1, 5, 10}
	unitBuckets    = []float64{.5, 1, 1.5, 2, 3, 4, 6, 10, 20, 50, 100, 200}
	waveBuckets    = []float64{1, 2, 3, 4, 6, 10}
	batchBuckets   = []float64{1, 2, 5, 10, 25, 50, 100}
)

// Attributes that several instruments have.
var (
	method    = Attribute{"http.request.method", []string{"GET", "HEAD", "POST", "PUT", "DELETE", "CONNECT", "OPTIONS", "TRACE", "PATCH"}}
	scheme    = Attribute{"url.scheme", []string{"http", "https"}}
	operation = Attribute{"graphql.operation.type", []string{"query", "mutation", "none"}}
	outcome   = Attribute{"talkback.outcome", []string{"ok", "partial", "failed", "refused"}}
	call      = Attribute{"db.operation.name", []string{
		"Query", "Scan", "GetItem", "BatchGetItem", "PutItem", "UpdateItem", "DeleteItem", "BatchWriteItem", "TransactWriteItems", "TransactGetItems",
		"DescribeTable", "CreateTable", "ListTables", "DescribeTimeToLive", "UpdateTimeToLive",
		"DescribeStream", "GetShardIterator", "GetRecords",
	}}
	system    = Attribute{"db.system.name", []string{"aws.dynamodb"}}
	index     = Attribute{"talkback.index", []string{"table", "all", "byLang", "byRating", "byLangAndRating", "leaders"}}
	knowledge = Attribute{"talkback.knowledge", []string{"cold", "warm"}}
	purpose   = Attribute{"talkback.purpose", []string{
		"page", "skip", "probe", "count", "comment", "statistics", "leaderboard", "page numbers", "plan knowledge",
		"write", "counting", "rebuild", "lease", "heartbeat", "maintenance",
	}}
)

// codes are the codes of errors, as docs/guide/errors.md lists them.
var codes = []string{
	"BAD_INPUT", "BAD_CURSOR", "THROTTLED", "UNAVAILABLE", "TIMEOUT", "CANCELED", "NOT_FOUND", "CONFLICT", "KEY_REUSED",
	"UNAUTHENTICATED", "FORBIDDEN", "TOO_MUCH_TEXT", "TOO_COSTLY", "OVERLOADED", "INTERNAL",
	"GRAPHQL_PARSE_FAILED", "GRAPHQL_VALIDATION_FAILED",
	"BAD_REQUEST", "BATCH_NOT_ALLOWED", "CSRF_REFUSED", "METHOD_NOT_ALLOWED", "BODY_TOO_LARGE", "QUERY_TOO_LONG", "UNSUPPORTED_MEDIA_TYPE",
	"TOO_MANY_TOKENS", "NESTED_TOO_DEEP", "NAME_TOO_LONG", "TOO_MANY_OPERATIONS", "TOO_MANY_FRAGMENTS", "TOO_DEEP", "TOO_MANY_FIELDS",
	"SELECTION_TOO_LONG", "TOO_MANY_ROOT_FIELDS", "TOO_MANY_ALIASES", "TOO_MANY_OVERLAPS", "TOO_MANY_DIRECTIVES",
	"VALUE_TOO_DEEP", "LIST_TOO_LONG", "TOO_MANY_VARIABLES", "VARIABLES_TOO_LARGE",
	"TOO_COMPLEX", "ANSWER_TOO_LARGE", "ANSWER_TOO_MANY_BYTES", "TOO_MANY_INTROSPECTIONS", "INTROSPECTION_OFF", "TOO_MANY_ERRORS",
}

// instruments are all that a process measures: the one place for names, units and attributes.
// docs/operate/metrics.md, the dashboard and the alerts in infra are held against it.
var instruments = []Instrument{
	{
		Name: "http.server.request.duration", Unit: "s", Kind: Histogram, Buckets: requestBuckets,
		Description: "Duration of HTTP requests, from the end of the head until the answer is sent.",
		Attributes: []Attribute{
			method, scheme,
			{"http.route", []string{"/graphql", "/", "/products/{id}", "/healthz", "/readyz", "/{file}"}},
			{"http.response.status_code", []string{
				"200", "204", "206", "301", "302", "304", "308", "400", "401", "403", "404", "405", "406", "413", "414", "415", "416", "429", "500", "503",
			}},
		},
	},
	{
		Name: "http.server.active_requests", Unit: "{request}", Kind: UpDown, Whole: true,
		Description: "HTTP requests whose answers are not sent completely.",
		Attributes:  []Attribute{method, scheme},
	},
	{
		Name: "talkback.operation.duration", Unit: "s", Kind: Histogram, Buckets: requestBuckets,
		Description: "Duration of requests to the API, until the answer is sent.",
		Attributes:  []Attribute{operation, outcome},
	},
	{
		Name: "talkback.operations", Unit: "{operation}", Kind: Counter, Whole: true,
		Description: "Requests to the API by the code of their first error, if any.",
		Attributes:  []Attribute{operation, outcome, {"error.type", append([]string{"none"}, codes...)}},
	},
	{
		Name: "talkback.operation.estimated_units", Unit: "{read_unit}", Kind: Counter,
		Description: "Read units that operations were charged beforehand.",
		Attributes:  []Attribute{operation},
	},
	{
		Name: "talkback.operation.read_units", Unit: "{read_unit}", Kind: Counter,
		Description: "Read units that operations consumed.",
		Attributes:  []Attribute{operation},
	},
	{
		Name: "talkback.refusals", Unit: "{request}", Kind: Counter, Whole: true,
		Description: "Requests to the API that a limit of the server refused.",
		Attributes:  []Attribute{{"talkback.reason", []string{"limit", "queue", "arriving", "unread", "client"}}},
	},
	{
		Name: "process.uptime", Unit: "s", Kind: Gauge,
		Description: "Time since the process began to serve or to count.",
	},
}

// Instruments returns the table of instruments.
func Instruments() []Instrument { return instruments }
