package arch

import (
	"bytes"
	"encoding/json"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/talkback/talkback/internal/commenttest/must"
)

const module = "github.com/talkback/talkback"

// pkg is the go command's description of a package.
type pkg struct {
	ImportPath, Dir, Doc                              string
	GoFiles, Imports, Deps, TestImports, XTestImports []string
}

// local is the path of a package inside the module, "." for its root.
func (p pkg) local() string {
	return strings.TrimPrefix(strings.TrimPrefix(p.ImportPath, module), "/")
}

// packages returns the packages of this module, listed once for all tests.
func packages(t *testing.T) []pkg {
	t.Helper()
	return must.Get(listOnce())(t)
}

var listOnce = sync.OnceValues(func() ([]pkg, error) {
	list := exec.Command("go", "list", "-json", "./...")
	list.Dir = "../.."
	out, err := list.Output()
	if err != nil {
		return nil, err
	}
	var all []pkg
	for decoder := json.NewDecoder(bytes.NewReader(out)); decoder.More(); {
		var p pkg
		if err := decoder.Decode(&p); err != nil {
			return nil, err
		}
		all = append(all, p)
	}
	return all, nil
})

// own are our packages that a package may import, with the reason for the rule. Test support is
// below internal.
var own = map[string]struct {
	may []string
	why string
}{
	"comment":         {nil, "the nouns depend on nothing, so that everything can depend on them"},
	"graph":           {[]string{"comment"}, "generated code knows the nouns and how scalars are written"},
	"loaders":         {[]string{"comment", "internal/task"}, "batching knows keys and values, not where they are kept"},
	"resolvers":       {[]string{"comment", "graph", "graph/lookahead", "internal/task", "loaders"}, "a resolver that knew the table would plan and read on its own"},
	"graph/lookahead": {[]string{"comment", "graph"}, "what is asked is read before anything that answers it"},
	"dynamo": {[]string{
		"comment", "dynamo/call", "dynamo/counts", "dynamo/erasure", "dynamo/layout", "dynamo/merge", "dynamo/planner", "internal/task", "internal/usage", "pageindex", "stream",
	}, "the table does not know who asks; the Store stands on top of what it is made of"},
	"dynamo/layout":     {[]string{"comment"}, "what is stored does not depend on how it is read"},
	"dynamo/call":       {[]string{"comment", "dynamo/layout", "internal/task", "internal/usage"}, "a call is made the same way, whatever it is for"},
	"dynamo/planner":    {[]string{"comment", "dynamo/layout"}, "a plan is a value: a planner that made calls could not be tested without a table"},
	"dynamo/leases":     {[]string{"comment", "dynamo/call", "dynamo/layout", "internal/task", "stream"}, "who does some work does not depend on what the work is"},
	"dynamo/erasure":    {[]string{"comment", "dynamo/call", "dynamo/layout", "dynamo/leases", "internal/task"}, "erasing an author is readable alone: it knows what is stored, and not how it is asked for"},
	"dynamo/restore":    {[]string{"comment", "dynamo/call", "dynamo/erasure", "dynamo/layout", "internal/output"}, "a copy is read and put back without knowing what its items are for"},
	"dynamo/outbox":     {[]string{"comment", "dynamo/call", "dynamo/layout", "internal/task", "internal/usage", "stream"}, "what happened follows from the stream, however it is counted, and for any use"},
	"internal/webhooks": {[]string{"comment", "dynamo/call", "dynamo/layout", "dynamo/leases", "dynamo/outbox", "internal/edge", "internal/fetch", "internal/task"}, "who is told of events does not depend on where they come from"},
	"dynamo/counts": {[]string{
		"comment", "dynamo/call", "dynamo/layout", "dynamo/leases", "dynamo/merge", "internal/task", "internal/usage", "pageindex", "pageindex/runs", "stream",
	}, "counting is readable alone: it knows nothing of pages and plans"},
	"stream":                {[]string{"comment", "internal/task", "internal/usage"}, "a stream is read without knowing what its records are about"},
	"cmd/talkback-lambda":   {[]string{"command", "comment", "httpapi/gateway", "dynamo", "dynamo/call", "dynamo/counts", "dynamo/layout", "dynamo/leases", "dynamo/outbox", "pageindex/keeper", "pageindex/table", "stream", "telemetry"}, "a function is wired like a command, and is none"},
	"pageindex":             {[]string{"comment", "internal/task", "stream"}, "what every store promises does not depend on any of them"},
	"pageindex/keeper":      {[]string{"comment", "dynamo/call", "dynamo/layout", "internal/task", "pageindex", "pageindex/markers", "pageindex/objects", "pageindex/redis", "pageindex/relational", "stream"}, "it opens the stores"},
	"pageindex/redis":       {[]string{"comment", "internal/redisdial", "pageindex"}, "a store knows the contract and its database"},
	"internal/servertest":   {[]string{"internal/engine", "internal/task"}, "it runs a server, whichever that is"},
	"internal/nginxtest":    {[]string{"internal/provisiontest", "internal/servertest"}, "it starts a proxy and knows nothing of what is behind it"},
	"internal/redistest":    {[]string{"internal/provisiontest", "internal/servertest"}, "it starts servers and knows nothing of what is kept in them"},
	"pageindex/objects":     {[]string{"comment", "pageindex", "stream"}, "a store knows the contract and where its objects are kept"},
	"pageindex/markers":     {[]string{"comment", "dynamo/call", "dynamo/layout", "internal/usage", "pageindex", "stream"}, "a store knows the contract and its table"},
	"internal/s3test":       {[]string{"internal/provisiontest", "internal/servertest"}, "it starts servers and knows nothing of what is kept in them"},
	"pageindex/conformance": {[]string{"comment", "internal/commenttest", "internal/commenttest/must", "pageindex", "stream"}, "a suite for every store knows none of them"},
	"pageindex/relational":  {[]string{"comment", "internal/task", "pageindex", "stream"}, "one schema for every SQL database, which brings its own words"},
	"internal/postgrestest": {[]string{"internal/engine", "internal/provisiontest"}, "it starts a server and knows nothing of what is kept there"},
	"pageindex/table": {[]string{
		"comment", "dynamo/call", "dynamo/layout", "internal/usage", "internal/task", "pageindex", "pageindex/runs",
	}, "it reads and writes what package runs decides, and knows of counting only what that stores"},
	"pageindex/runs":         {[]string{"comment", "pageindex"}, "what is stored of runs is decided without a table, so that every history can be tried"},
	"dynamo/merge":           {nil, "merging is an algorithm, whatever is merged"},
	"httpapi/limits":         {[]string{"comment", "dynamo", "dynamo/planner", "graph/lookahead", "internal/usage"}, "bounds ask those who plan reads and know the table what reading costs"},
	"live":                   {[]string{"comment", "dynamo/outbox", "internal/task"}, "who is told what does not depend on how it is sent"},
	"httpapi/gateway":        {[]string{"internal/task"}, "events become requests, whatever answers them"},
	"quota":                  {[]string{"internal/redisdial", "internal/task"}, "what a client may use is decided without knowing of what, or of whom"},
	"internal/redisdial":     {[]string{"comment"}, "a server is reached the same way, whatever is kept in it"},
	"httpapi":                {[]string{"quota", "httpapi/limits", "internal/edge", "internal/fetch", "internal/redisdial", "live", "loaders", "internal/usage", "internal/task"}, "HTTP is told its schema, its pages and its table by the package that wires them"},
	"internal/usage":         {[]string{"comment"}, "both ends of an operation take from its account and make its spans, so it knows neither"},
	"auth":                   {[]string{"comment", "internal/fetch", "internal/task", "moderation"}, "what may be written does not depend on where it is kept, nor on how it is asked for"},
	"moderation":             {[]string{"comment", "internal/fetch"}, "what is held is decided of a comment and of facts that the caller looked up"},
	"internal/cost":          {[]string{"comment", "dynamo", "dynamo/counts", "dynamo/layout", "dynamo/planner", "internal/sample", "stream"}, "a bill asks those who plan, count and store what they would consume"},
	"internal/reviewfile":    {[]string{"comment", "internal/fetch"}, "a file becomes comments; where these go is not its concern"},
	"internal/importer":      {[]string{"comment", "dynamo", "dynamo/call", "dynamo/layout", "dynamo/restore", "internal/engine", "internal/output", "internal/reviewfile", "internal/task"}, "rows become comments; the loader that writes them is handed in, and taking an import back needs their marks only"},
	"internal/output":        {[]string{"internal/output", "internal/task"}, "a file is written without knowing what is in it"},
	"internal/edge":          {nil, "the API and the pages let caches share answers, and read what clients accept, by the same rules"},
	"internal/task":          {nil, "a panic is caught and a wait ends in one way in every package"},
	"internal/sample":        {[]string{"comment"}, "likewise"},
	"internal/contract":      {nil, "linters read the schema, and nothing of the program"},
	"internal/clients":       {nil, "clients speak to the API over HTTP only, as anyone's would"},
	"internal/frameworks":    {nil, "apps of shops speak to the service over HTTP only; its tests start the service"},
	"docs/guide":             {nil, "they are documents"},
	"web":                    {[]string{"docs/guide", "internal/edge", "internal/fetch", "internal/task"}, "pages speak to the API over HTTP only, as anyone's would"},
	"internal/fetch":         {nil, "an address or a file is read the same way, whatever is there"},
	"web/component":          {[]string{"web"}, "it is written in TypeScript; its tests take over what the server rendered"},
	"internal/engine":        {[]string{"internal/task"}, "an engine can be run without knowing what is kept in it"},
	"internal/infra":         {[]string{"dynamo/layout"}, "it writes down how the table is defined, and not what is in it"},
	"internal/arch":          {nil, "it looks at the code from outside"},
	"internal/commenttest":   {[]string{"comment"}, "a model that shared code with what it checks would share its errors"},
	"internal/provisiontest": {nil, "it finds programs; engine's own tests need them, so it cannot know engine"},
	"internal/dynamotest":    {[]string{"internal/engine", "internal/provisiontest"}, "it starts engines and knows nothing of tables"},
	"internal/bench":         {nil, "it measures from outside; its tests wire what they measure"},
	"internal/planbench":     {[]string{"comment", "dynamo", "dynamo/layout", "dynamo/planner", "internal/plot", "internal/reviewfile", "pageindex"}, "it asks the Store itself, of a table and page numbers in memory"},
	"internal/faulttest":     {nil, "a network knows nothing of what goes over it"},
	"internal/episode":       {[]string{"internal/faulttest", "internal/task"}, "trouble knows the names of a table's parts, and nothing of what is in them"},
	"internal/workload":      {[]string{"comment"}, "it speaks to a server over HTTP only, and shares no code with what it checks but the form of an id"},
	"internal/safety":        {nil, "its tests start the program and speak to it as clients do"},
	"internal/streamtest":    {[]string{"stream"}, "a stream that is late knows nothing of its records"},
	"internal/otlptest":      {nil, "it receives what anyone sends"},
	"internal/doctest":       {[]string{"internal/provisiontest"}, "documents are read as a stranger reads them: as text"},
	"internal/docsite":       {nil, "documents are text; its tests visit what is made of them"},
	"internal/schematest":    {[]string{"internal/doctest"}, "it reads a file"},
	"internal/browsertest":   {[]string{"internal/provisiontest"}, "a browser sees what a person sees"},
	"internal/endtoend":      {nil, "a reader sees pages; its tests start the program that serves them"},
	"internal/overload":      {nil, "it measures from outside; its tests start what they measure"},
	"internal/scale":         {nil, "it reckons from outside; its tests ask what is sold and what is stored"},
	"internal/releases":      {nil, "it looks at a release from outside"},
	"internal/deployment":    {nil, "its tests start the program as the files of infra say"},
	"internal/pagesbench":    {nil, "it measures from outside; its tests open what they measure"},
	"telemetry":              {[]string{"internal/task", "internal/usage"}, "it measures without knowing what is measured; the commands plug the two together"},
	"internal/plot":          {nil, "lines are drawn without knowing what they measure"},
	"internal/planbench/run": {[]string{
		"command", "comment", "dynamo", "internal/planbench", "internal/reviewfile",
	}, "a file is understood as the command import understands it, which also fills the table that is measured"},
	"command": {[]string{
		"auth", "comment", "dynamo", "dynamo/call", "dynamo/counts", "dynamo/erasure", "dynamo/layout", "dynamo/leases", "dynamo/outbox", "dynamo/restore", "graph",
		"httpapi", "httpapi/limits", "internal/cost", "internal/engine", "internal/fetch",
		"internal/importer", "internal/output", "internal/reviewfile", "internal/sample", "internal/task", "internal/usage", "internal/webhooks", "live", "loaders", "moderation",
		"pageindex", "pageindex/objects", "pageindex/keeper",
		"pageindex/table", "quota", "resolvers", "stream", "telemetry", "web",
	}, "commands wire; nothing is decided in them that a test would have to start a command for"},
	"internal/commenttest/goldentest": {nil, "a file is compared as it is"},
	"internal/commenttest/check":      {nil, "values are compared, whatever they are"},
	"internal/commenttest/must":       {nil, "a test of any package may have a step that fails"},
	"internal/servertest/lambdatest":  {nil, "a model that shared code with what it checks would share its errors"},
	"internal/servertest/programtest": {[]string{"command", "internal/commenttest"}, "it runs the program as its command line does"},
	"":                                {[]string{"command"}, "main hands over to the commands"},
}

func TestWhoImportsWhom(t *testing.T) {
	seen := map[string]bool{}
	for _, p := range packages(t) {
		name := p.local()
		rule, known := own[name]
		if !known {
			t.Errorf("package %q has no rule: add one to the table own in this file, with what it may import, and why", name)
		}
		seen[name] = true
		for _, imported := range p.Imports {
			inside, ours := strings.CutPrefix(imported, module+"/")
			if ours && !slices.Contains(rule.may, inside) {
				t.Errorf("%s imports %s, and must not: %s; if it has to, change its rule in the table own in this file", name, inside, rule.why)
			}
		}
	}
	for name, rule := range own {
		for _, imported := range append(rule.may, name) {
			if !seen[imported] {
				t.Errorf("the rule of %q names package %q, which does not exist", name, imported)
			}
		}
	}
}

// restricted are the big dependencies, each with the only packages that may import them.
var restricted = []struct {
	dependency string
	through    []string
	why        string
}{
	{"github.com/aws/", []string{"dynamo", "dynamo/call", "dynamo/counts", "dynamo/erasure", "dynamo/layout", "dynamo/leases", "dynamo/outbox", "dynamo/restore", "pageindex/keeper", "pageindex/markers", "pageindex/table", "pageindex/objects", "stream", "command", "cmd/talkback-lambda", "httpapi/gateway", "internal/importer", "internal/infra", "internal/planbench", "internal/webhooks"}, "the SDK is for those who speak to the table, or to a bucket; command checks what its role may do, planbench takes the table's place"},
	{"github.com/aws/aws-sdk-go-v2/service/s3", []string{"pageindex/objects", "dynamo/restore"}, "objects are known where they are written, and where copies are read"},
	{"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams", []string{"stream"}, "shards and iterators are known in one place"},
	{"github.com/99designs/gqlgen/", []string{"graph", "graph/lookahead", "resolvers", "httpapi", "httpapi/limits"}, "GraphQL is how the service is asked, not what it is"},
	{"github.com/vektah/gqlparser/", []string{"graph", "graph/lookahead", "resolvers", "httpapi", "httpapi/limits"}, "likewise"},
	{"github.com/graph-gophers/dataloader/", []string{"loaders"}, "its traps are avoided in one place"},
	{"github.com/hashicorp/golang-lru/", []string{"dynamo", "httpapi", "internal/usage", "pageindex/objects", "web"}, "what outlives a request is remembered in few places, and bounded"},
	{"github.com/coder/websocket", []string{"httpapi"}, "a socket is a matter of its protocol"},
	{"github.com/jub0bs/cors", []string{"httpapi"}, "who may ask from where is decided in one place"},
	{"github.com/klauspost/compress/", []string{"dynamo/layout", "httpapi"}, "how bytes travel is HTTP's, and how they are stored the table's"},
	{"github.com/go-json-experiment/json/", []string{"auth", "httpapi", "internal/cost", "internal/reviewfile", "moderation"}, "JSON is read strictly where it comes from outside"},
	{"github.com/golang-jwt/", []string{"auth"}, "tokens are verified in one place"},
	{"github.com/MicahParks/", []string{"auth"}, "likewise"},
	{"github.com/redis/go-redis/", []string{"httpapi", "internal/redisdial", "pageindex/redis", "quota"}, "what is kept in Redis is known in few places"},
	{"modernc.org/sqlite", []string{"internal/engine", "pageindex/relational"}, "the local engine's file is SQLite, and an index of ranks can be"},
	{"github.com/jackc/pgx/", []string{"pageindex/relational"}, "only an index of ranks is kept in PostgreSQL"},
	{"github.com/alecthomas/kong", []string{"command"}, "flags and environment are read in one place"},
	{"go.opentelemetry.io/otel/sdk/", []string{"telemetry"}, "what measures is set up in one place"},
	{"go.opentelemetry.io/", []string{"dynamo/call", "internal/usage", "telemetry"}, "packages tell what happens by interfaces of their own"},
	{"github.com/prometheus/", []string{"telemetry"}, "Prometheus' format is one of those that metrics are shown in"},
	{"github.com/yuin/goldmark", []string{"web"}, "documents are shown in one place"},
	{"os/exec", []string{"internal/engine", "internal/importer"}, "a process gets all of our environment, secrets included, unless package engine starts it as a child; importer gives its process none"},
	{"testing", []string{"pageindex/conformance"}, "test support in shipped code brings its flags along"},
}

func TestDependenciesAreImportedWhereAllowed(t *testing.T) {
	used := map[string]bool{}
	for _, p := range packages(t) {
		if strings.HasSuffix(p.local(), "test") {
			continue // test support
		}
		for _, rule := range restricted {
			for _, imported := range p.Imports {
				if imported != rule.dependency && !(strings.HasSuffix(rule.dependency, "/") && strings.HasPrefix(imported, rule.dependency)) {
					continue
				}
				used[rule.dependency] = true
				if !slices.Contains(rule.through, p.local()) {
					t.Errorf("%s imports %s, and must not: %s; if it has to, change the rule in the table restricted in this file", p.local(), imported, rule.why)
				}
			}
		}
	}
	for _, rule := range restricted {
		if !used[rule.dependency] && rule.through != nil {
			t.Errorf("nothing imports %s: its rule is about nothing", rule.dependency)
		}
	}
}

// The nouns import only the standard library and x/text, the merge only the standard library,
// directly or not.
func TestWhatTheCoreDependsOn(t *testing.T) {
	for _, p := range packages(t) {
		allowed, core := map[string][]string{"comment": {"golang.org/x/text/"}, "dynamo/merge": {}}[p.local()]
		if !core {
			continue
		}
		for _, dependency := range p.Deps {
			outside := strings.Contains(strings.Split(dependency, "/")[0], ".")
			if outside && !slices.ContainsFunc(allowed, func(prefix string) bool { return strings.HasPrefix(dependency, prefix) }) {
				t.Errorf("%s depends on %s", p.local(), dependency)
			}
		}
	}
}

func TestEveryPackageHasOneComment(t *testing.T) {
	for _, p := range packages(t) {
		if p.Doc == "" && p.local() != "graph" && len(p.GoFiles) > 0 { // else a test's comment counts
			t.Errorf("package %q has no comment that says what it is for", p.local())
		}
	}
}
