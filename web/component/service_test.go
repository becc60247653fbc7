package component

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/validator"

	"github.com/talkback/talkback/internal/schematest"
)

// object is a JSON object.
type object = map[string]any

// service stands in for the API: it checks each request against the schema, and answers with
// invented comments. Some products cause trouble, by their ids.
type service struct {
	schema *ast.Schema

	mu     sync.Mutex
	asked  []request
	failed map[string]bool // products whose first request was refused
	gaveUp chan struct{}   // closed when the browser gave up the request that is overtaken
	votes  []string        // votes received
	text   string          // of the comment added last
	tokens int             // tokens given to visitors
	edits  []string        // the texts of edits, which wait

	followers chan *follower // that subscribed
}

// request is one that came.
type request struct {
	Query         string
	Variables     variables
	given         object // the variables as they came
	authorization string
	origin        string
}

type variables struct {
	ID            string
	First, Last   int
	Page          int
	After, Before string
	Filter, Chips filter
	Order         string
	Highlights    bool
	Narrowed      bool
	Faceted       bool
	Own, Voter    bool
	Input         struct{ ID, Vote string }
	token         string // that came with them
}

type filter struct {
	Languages                   []string
	Ratings                     []int
	CreatedAfter, CreatedBefore string
}

func newService(t *testing.T) *service {
	t.Helper()
	return &service{schema: schematest.Load(t), failed: map[string]bool{}, gaveUp: make(chan struct{}), followers: make(chan *follower, 100)}
}

// requests returns the requests for a product, and forgets them.
func (s *service) requests(product string) []request {
	s.mu.Lock()
	defer s.mu.Unlock()
	var found []request
	s.asked = slices.DeleteFunc(s.asked, func(r request) bool {
		if r.Variables.ID == product {
			found = append(found, r)
		}
		return r.Variables.ID == product
	})
	return found
}

// forgive makes the next request for a product be refused again, if it is one of the troubles.
func (s *service) forgive(product string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.failed, product)
}

// ServeHTTP serves the requests of the element: operations of its manifest.
func (s *service) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.serve(w, r, listed()) }

// forServer serves the server's own requests for the pages that it renders.
func (s *service) forServer() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { s.serve(w, r, nil) })
}

// serve allows every origin, as --cors-origin '*' does, and only these operations, or all if there
// are none.
func (s *service) serve(w http.ResponseWriter, r *http.Request, operations []string) {
	w.Header().Set("Access-Control-Allow-Origin", "*")
	w.Header().Set("Access-Control-Allow-Headers", "authorization, content-type")
	w.Header().Set("Access-Control-Expose-Headers", "Retry-After")
	if r.Method == http.MethodOptions {
		w.WriteHeader(http.StatusNoContent)
		return
	}
	var raw struct {
		Query     string
		Variables object
		follower
	}
	asked := request{authorization: r.Header.Get("Authorization"), origin: r.Header.Get("Origin")}
	if err := json.NewDecoder(r.Body).Decode(&raw); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	_, _ = io.Copy(io.Discard, r.Body) // at its end, the server begins to notice that a client hangs up
	if strings.Contains(raw.Query, "commentEvents") {
		raw.follower.serve(s, w, r, raw.Query, raw.Variables)
		return
	}
	asked.Query, asked.given = raw.Query, raw.Variables
	if err := reencode(raw.Variables, &asked.Variables); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	asked.Variables.token = strings.TrimPrefix(asked.authorization, "Bearer ")
	s.mu.Lock()
	s.asked = append(s.asked, asked)
	again := s.failed[asked.Variables.ID]
	s.failed[asked.Variables.ID] = true
	s.mu.Unlock()
	if err := s.check(raw.Query, raw.Variables, operations); err != nil {
		reply(w, http.StatusBadRequest, object{"errors": []object{{"message": err.Error()}}})
		return
	}
	switch {
	case asked.Variables.Input.Vote != "":
		s.vote(w, asked.Variables, asked.authorization)
		return
	case strings.Contains(raw.Query, "addComment"):
		s.add(w, raw.Variables["input"].(object))
		return
	case strings.Contains(raw.Query, "editComment"):
		s.edit(w, raw.Variables["input"].(object))
		return
	case strings.Contains(raw.Query, "deleteComment"):
		reply(w, http.StatusOK, object{"data": object{"value": object{"comment": nil, "errors": []object{}}}})
		return
	case strings.Contains(raw.Query, "comment(id:"): // an edit of it waits
		reply(w, http.StatusOK, object{"data": object{"value": s.edited()}})
		return
	case strings.Contains(raw.Query, "createVisitorToken"):
		s.mu.Lock()
		s.tokens++
		token := object{"token": fmt.Sprint("t", s.tokens), "expiresAt": time.Now().Add(time.Hour)}
		s.mu.Unlock()
		reply(w, http.StatusOK, object{"data": object{"value": token}})
		return
	}
	if v := asked.Variables; v.ID == "overtaken" && slices.Equal(v.Filter.Ratings, []int{5}) {
		<-r.Context().Done()
		close(s.gaveUp)
		return
	}
	if trouble := troubles[asked.Variables.ID]; trouble != nil && !again {
		trouble(w, r)
		return
	}
	found := answer(asked.Variables)
	if asked.Variables.ID == "edited" && asked.Variables.Own {
		found["data"].(object)["product"].(object)["viewerComment"] = s.edited()
	}
	reply(w, http.StatusOK, found)
}

// vote answers a vote, with totals that lag. The first comment has 12 helpful ones, the third is
// gone, the fourth gets no more, and for the sixth the token of the first visitor holds no longer.
func (s *service) vote(w http.ResponseWriter, v variables, authorization string) {
	s.mu.Lock()
	s.votes = append(s.votes, strings.TrimSpace(v.Input.ID[len(v.Input.ID)-1:]+" "+v.Input.Vote+" "+authorization))
	s.mu.Unlock()
	refuse := func(code string) {
		problem := object{"message": "no", "path": []string{"value"}, "extensions": object{"code": code}}
		reply(w, http.StatusOK, object{"data": object{"value": nil}, "errors": []object{problem}})
	}
	comment := commentOf("votes", catalogue("votes")[place(v.Input.ID[1:])])
	switch comment["votes"].(object)["helpful"] = map[string]int{"HELPFUL": 13}[v.Input.Vote]; place(v.Input.ID[1:]) {
	case 2:
		reply(w, http.StatusOK, gone)
	case 3:
		refuse("RATE_LIMITED")
	case 5:
		if authorization == "Bearer t1" {
			refuse("UNAUTHENTICATED")
			return
		}
		fallthrough
	default:
		reply(w, http.StatusOK, object{"data": object{"value": object{"comment": comment, "errors": []object{}}}})
	}
}

// gone is the answer to a change of a comment that was deleted.
var gone = object{"data": object{"value": object{"comment": nil, "errors": []object{{"code": "NOT_FOUND", "message": "no", "path": []string{"id"}}}}}}

// added returns the text of the comment that was added last.
func (s *service) added() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text
}

// add answers a comment that waits for a moderator, or that has no rating. Of some answers nothing
// is left when they come.
func (s *service) add(w http.ResponseWriter, input object) {
	s.mu.Lock()
	s.text = input["text"].(string)
	s.mu.Unlock()
	if input["text"] == "stripped" {
		reply(w, http.StatusOK, object{"data": object{}})
		return
	}
	if input["rating"] == 0.0 {
		reply(w, http.StatusOK, object{"data": object{"value": object{"comment": nil, "errors": []object{{"code": "OUT_OF_RANGE", "message": "no", "path": []string{"input", "rating"}}}}}})
		return
	}
	comment := commentOf("signed", catalogue("signed")[0])
	comment["author"] = object{"customerId": input["author"].(object)["id"], "name": "I"}
	comment["id"], comment["text"], comment["language"], comment["status"] = "c_mine", input["text"], input["language"], "PENDING"
	reply(w, http.StatusOK, object{"data": object{"value": object{"comment": comment, "errors": []object{}}}})
}

// rejected is the text of an edit that is rejected at once, after the answer.
const rejected = "Noch einmal verboten."

// edit answers an edit of a comment that was deleted, or of one beside which an edit waits.
func (s *service) edit(w http.ResponseWriter, input object) {
	text := input["text"].(string)
	if !strings.HasPrefix(text, "Noch einmal") {
		reply(w, http.StatusOK, gone)
		return
	}
	own := s.edited()
	if version := own["heldEdit"].(object)["version"].(int); input["version"] != float64(version) {
		reply(w, http.StatusOK, object{"data": object{"value": object{"comment": nil, "errors": []object{{"code": "CONFLICT", "message": "no", "path": []string{"input", "version"}}}}}})
		return
	}
	s.mu.Lock()
	s.edits = append(s.edits, text)
	s.mu.Unlock()
	own["heldEdit"].(object)["text"], own["heldEdit"].(object)["version"] = text, 2+len(s.edits)
	reply(w, http.StatusOK, object{"data": object{"value": object{"comment": own, "errors": []object{}}}})
}

// edited returns the sender's own comment with the edit that waits beside it.
func (s *service) edited() object {
	own := ownOf("edited", catalogue("edited"))
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := len(s.edits); n > 0 && s.edits[n-1] == rejected {
		own["heldEdit"] = nil
	} else if n > 0 {
		own["heldEdit"].(object)["text"], own["heldEdit"].(object)["version"] = s.edits[n-1], 2+n
	}
	return own
}

// listed are the texts of the manifest of trusted documents that is built with the element.
var listed = sync.OnceValue(func() (texts []string) {
	raw, err := os.ReadFile("dist/operations.json")
	if err != nil {
		panic(err)
	}
	var manifest struct{ Operations []struct{ Body string } }
	if err := json.Unmarshal(raw, &manifest); err != nil {
		panic(err)
	}
	for _, operation := range manifest.Operations {
		texts = append(texts, operation.Body)
	}
	return texts
})

// check returns the fault of a request by the schema, or by the allowed operations, if any.
func (s *service) check(query string, given object, operations []string) error {
	if operations != nil && !slices.Contains(operations, query) {
		return fmt.Errorf("dist/operations.json does not list %s", query)
	}
	document, err := gqlparser.LoadQueryWithRules(s.schema, query, nil)
	if err != nil {
		return err
	}
	if _, err := validator.VariableValues(s.schema, document.Operations[0], given); err != nil {
		return err
	}
	return nil
}

// troubles are how the first request for a product is refused.
var troubles = map[string]http.HandlerFunc{
	"throttled": refusing(http.StatusServiceUnavailable, "OVERLOADED", "7"),
	"limited":   refusing(http.StatusTooManyRequests, "RATE_LIMITED", "12"),
	"broken":    refusing(http.StatusOK, "UNAVAILABLE", "", "product"),
	"refused":   refusing(http.StatusOK, "INTERNAL", ""),
	"secret":    refusing(http.StatusUnauthorized, "UNAUTHENTICATED", ""),
	"costly":    refusing(http.StatusBadRequest, "TOO_COMPLEX", ""),
	"proxy": func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "1")
		http.Error(w, "<h1>429</h1>", http.StatusTooManyRequests)
	},
	"stripped": func(w http.ResponseWriter, _ *http.Request) {
		reply(w, http.StatusOK, object{"data": object{"product": object{"list": object{"nodes": []object{{"id": "c_1"}}}}}})
	},
	"unlisted": func(w http.ResponseWriter, _ *http.Request) {
		reply(w, http.StatusOK, object{"data": object{"product": object{"list": object{"pageInfo": object{}, "nodes": nil}}}})
	},
	"elsewhere": func(w http.ResponseWriter, _ *http.Request) {
		reply(w, http.StatusOK, object{"data": object{"product": object{"list": nil}}, "errors": refused("BAD_CURSOR", []string{"product", "list"})["errors"]})
	},
	"gone": func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "1000") // otherwise the browser retries by itself
		_, _ = w.Write([]byte(`{"data":`))
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	},
	"slow":  func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
	"stuck": func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
}

// refusing answers with an error, and says when to try again, unless that is empty.
func refusing(status int, code, retryAfter string, path ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		if retryAfter != "" {
			w.Header().Set("Retry-After", retryAfter)
		}
		reply(w, status, refused(code, path))
	}
}

func refused(code string, path []string) object {
	return object{"data": nil, "errors": []object{{"message": "told by the server", "path": path, "extensions": object{"code": code}}}}
}

func reply(w http.ResponseWriter, status int, body object) {
	w.Header().Set("Content-Type", "application/graphql-response+json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body)
}

func reencode(from, to any) error {
	text, err := json.Marshal(from)
	if err != nil {
		return err
	}
	return json.Unmarshal(text, to)
}

// made is an invented comment of the stand-in.
type made struct {
	number, rating int
	language       string
	created        time.Time
}

// sizes are how many comments products have; others have 130.
var sizes = map[string]int{"empty": 0, "single": 1, "huge": 26_000, "first": 1, "lagging": 3, "full": 21, "emptied": 0}

// catalogue returns the comments of a product, the newest first.
func catalogue(product string) []made {
	size, known := sizes[product]
	if !known {
		size = 130
	}
	languages := []string{"en", "de", "fr", "es", "it", "nl", "ar", "pt-BR"}
	newest := time.Date(2026, 5, 24, 14, 21, 49, 421e6, time.UTC)
	all := make([]made, size)
	for i := range all {
		all[i] = made{i, 1 + (i*i+3*i)%5, languages[i*i%len(languages)], newest.AddDate(0, 0, -i)}
		if product == "polyglot" { // has all of them
			all[i].language = languages[i%len(languages)]
		}
	}
	return all
}

// answer returns the answer to the operation.
func answer(v variables) object {
	all := catalogue(v.ID)
	wanted := filtered(all, v, true)
	if v.Order == "OLDEST_FIRST" {
		slices.Reverse(wanted)
	}
	size, from := max(v.First, v.Last), 0
	switch {
	case v.After != "":
		from = 1 + place(v.After)
	case v.Before != "":
		from = max(place(v.Before)-size, 0)
	case v.Page > 1:
		from = (v.Page - 1) * size
	}
	from = min(from, len(wanted))
	page := wanted[from:min(from+size, len(wanted))]
	product := object{
		"id": v.ID, "stats": statsOf(counted(v.ID, all)), "languages": languagesOf(counted(v.ID, all)), "commentsInOtherLanguages": 0,
		"list": listOf(v, wanted, page, from, size),
	}
	if v.Faceted {
		product["facets"] = object{"stats": statsOf(counted(v.ID, filtered(all, v, false)))}
	}
	if v.Narrowed {
		product["matching"] = languagesOf(counted(v.ID, filtered(all, variables{Filter: v.Chips}, true)))
	}
	if v.Highlights {
		product["praise"], product["complaint"] = nil, nil
		for _, c := range slices.Backward(all) {
			if c.rating >= 4 {
				product["praise"] = commentOf(v.ID, c)
			} else if c.rating <= 2 {
				product["complaint"] = commentOf(v.ID, c)
			}
		}
		if v.ID == "long" { // above the list, a text of four lines is shown whole
			product["praise"].(object)["text"] = "line" + strings.Repeat("\nline", 3)
			product["complaint"].(object)["text"] = "line" + strings.Repeat("\nline", 4)
		}
	}
	if v.Own {
		product["viewerComment"] = ownOf(v.ID, all)
	}
	if len(problemsOf(v)) > 0 && v.Page > 1 {
		product["list"] = nil
	}
	data := object{"product": product}
	switch v.ID {
	case "signed", "signed approved", "votes", "long pictures votes":
		data["viewer"] = object{"customerId": "me", "isModerator": false, "mayWrite": true, "cannotWriteReason": nil, "cannotVoteReason": nil}
	case "waits", "rejected", "edited":
		customer, reason := any("me"), any(nil)
		if v.token == "" {
			customer, reason = nil, "TOKEN_REQUIRED"
		}
		data["viewer"] = object{"customerId": customer, "isModerator": false, "mayWrite": reason == nil, "cannotWriteReason": reason, "cannotVoteReason": "CUSTOMER_TOKEN_REQUIRED"}
	case "visitors":
		data["viewer"] = object{"customerId": nil, "isModerator": false, "mayWrite": false, "cannotWriteReason": "TOKEN_REQUIRED", "cannotVoteReason": "VISITOR_TOKEN_REQUIRED"}
	case "unvisited": // visitors can no longer vote
		reason := "TOKEN_REQUIRED"
		if v.token != "" {
			reason = "TOKEN_REFUSED"
		}
		data["viewer"] = object{"customerId": nil, "isModerator": false, "mayWrite": false, "cannotWriteReason": reason, "cannotVoteReason": "CUSTOMER_TOKEN_REQUIRED"}
	case "shared": // the token is the customer's id, unless it has expired
		customer, reason := any(v.token), any(nil)
		if v.token == "" || v.token == "expired" {
			customer, reason = nil, map[string]string{"": "TOKEN_REQUIRED", "expired": "TOKEN_REFUSED"}[v.token]
		}
		data["viewer"] = object{"customerId": customer, "isModerator": false, "mayWrite": reason == nil, "cannotWriteReason": reason, "cannotVoteReason": "CUSTOMER_TOKEN_REQUIRED"}
	case "closed":
		data["viewer"] = object{"customerId": nil, "isModerator": false, "mayWrite": false, "cannotWriteReason": "WRITING_OFF", "cannotVoteReason": "CUSTOMER_TOKEN_REQUIRED"}
	}
	return object{"data": data, "errors": problemsOf(v)}
}

// ownOf returns the sender's own comment: one that waits, one that is rejected, or an edit beside a
// published one.
func ownOf(product string, all []made) object {
	own := commentOf(product, all[0])
	own["status"], own["heldEdit"], own["rejectionReason"] = "APPROVED", nil, nil
	switch product {
	case "waits":
		own["status"] = "PENDING"
	case "rejected":
		own["status"], own["rejectionReason"] = "REJECTED", "OFF_TOPIC"
	case "edited":
		own["heldEdit"] = object{"rating": 2, "language": "de", "title": nil, "text": "Anders.", "version": 2, "media": []object{}}
	}
	return own
}

// problemsOf returns the errors beside an otherwise good answer. Page numbers of "cursors" are
// unavailable, and those of "off" are off.
func problemsOf(v variables) []object {
	code := map[string]string{"cursors": "UNAVAILABLE", "off": "BAD_INPUT"}[v.ID]
	path := []string{"product", "list", "pageCount"}
	switch {
	case code == "":
		return nil
	case v.Page > 1:
		path = path[:2]
	}
	return []object{{"message": "no numbers", "path": path, "extensions": object{"code": code}}}
}

// counted are the comments of a list that counts include. The newest comment of some products is
// not counted yet, and the last one of another is gone and still counted.
func counted(product string, wanted []made) []made {
	switch product {
	case "first", "lagging", "full":
		return slices.DeleteFunc(slices.Clone(wanted), func(c made) bool { return c.number == 0 })
	case "emptied":
		return catalogue("single")
	}
	return wanted
}

func filtered(all []made, v variables, byRating bool) []made {
	var found []made
	for _, c := range all {
		at := c.created.Format(time.RFC3339)
		if (len(v.Filter.Languages) == 0 || slices.Contains(v.Filter.Languages, c.language)) &&
			(!byRating || len(v.Filter.Ratings) == 0 || slices.Contains(v.Filter.Ratings, c.rating)) &&
			(v.Filter.CreatedAfter == "" || at >= v.Filter.CreatedAfter) &&
			(v.Filter.CreatedBefore == "" || at < v.Filter.CreatedBefore) {
			found = append(found, c)
		}
	}
	return found
}

func place(cursor string) int {
	n, _ := strconv.Atoi(cursor[1:])
	return n
}

func listOf(v variables, wanted, page []made, from, size int) object {
	nodes, more := []object{}, from+len(page) < len(wanted)
	for _, c := range page {
		nodes = append(nodes, commentOf(v.ID, c))
	}
	wanted = counted(v.ID, wanted)
	stats := statsOf(wanted)
	if v.Filter.CreatedAfter != "" || v.Filter.CreatedBefore != "" {
		stats["verified"], stats["withMedia"] = nil, nil // as the API does not count them by dates
	}
	pages, number := (len(wanted)+size-1)/size, from/size+1
	if v.After+v.Before != "" {
		number = min((from+size/2)/size+1, pages) // of the page whose beginning is closest
	}
	list := object{
		"totalCount": len(wanted), "stats": stats, "nodes": nodes, "plan": planOf(v),
		"pageCount": pages, "pageNumber": number,
		"pageInfo": object{
			"hasNextPage": more, "hasPreviousPage": from > 0,
			"startCursor": fmt.Sprint("c", from), "endCursor": fmt.Sprint("c", from+len(page)-1),
		},
	}
	if len(problemsOf(v)) > 0 {
		list["pageCount"], list["pageNumber"] = nil, nil
	}
	return list
}

func commentOf(product string, c made) object {
	comment := object{
		"id": fmt.Sprintf("c_%026d", c.number), "rating": c.rating, "language": c.language,
		"title": fmt.Sprintf("Title %d", c.number), "text": fmt.Sprintf("Text %d\nin two lines", c.number),
		"author":    object{"customerId": nil, "name": fmt.Sprintf("Author %d", c.number)},
		"createdAt": c.created.Format("2006-01-02T15:04:05.000Z"), "updatedAt": nil, "version": 1, "reply": nil,
		"votes": object{"helpful": c.number % 3, "viewerVote": nil},
	}
	if c.number%3 == 0 {
		reply := object{"text": fmt.Sprintf("Reply %d\nin two lines", c.number), "name": "The shop", "createdAt": comment["createdAt"], "updatedAt": nil}
		if c.number%2 == 0 {
			reply["updatedAt"] = comment["createdAt"]
		}
		if product == "hostile" {
			reply["text"], reply["name"] = hostile, hostile
		}
		comment["reply"] = reply
	}
	if product == "signed approved" && c.number == 0 { // what is written is approved at once
		comment["id"] = "c_mine"
	}
	if c.number == 0 && slices.Contains([]string{"waits", "rejected", "edited"}, product) {
		comment["author"] = object{"customerId": "me", "name": "I"}
	}
	if strings.Contains(product, "votes") {
		comment["votes"] = object{"helpful": 12 * (1 - min(c.number, 1)), "viewerVote": nil}
		if c.number == 1 {
			comment["author"] = object{"customerId": "me", "name": "I"}
		}
	}
	if strings.Contains(product, "pictures") {
		picture := "data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg' width='40' height='20'/>"
		comment["isVerifiedPurchase"] = true
		comment["media"] = []object{{"url": picture, "kind": "PICTURE", "alt": "A kettle"}, {"url": picture, "kind": "PICTURE", "alt": ""}, {"url": "data:,", "kind": "VIDEO", "alt": ""}}
	}
	if strings.Contains(product, "long") {
		comment["text"] = long[c.number%len(long)]
	}
	if product == "hostile" {
		for _, field := range []string{"title", "text"} {
			comment[field] = hostile
		}
		comment["author"] = object{"customerId": nil, "name": hostile}
	}
	return comment
}

// long are texts of twelve lines on a wide screen, which are shown whole, and of one more.
var long = []string{
	"line" + strings.Repeat("\nline", 11), "line" + strings.Repeat("\nline", 12),
	strings.Repeat("\n", 11) + "end", strings.Repeat("\n", 12) + "end",
	strings.Repeat("words", 12*17), strings.Repeat("words", 12*17) + "!",
	strings.Repeat("🫖", 12*85), "\n" + strings.Repeat("🫖", 12*85),
	strings.Repeat("\u2028\n", 11) + "end", strings.Repeat("\u2028\n", 12) + "end",
}

// hostile is a text that would run if it became markup.
const hostile = `</script><img src=x onerror="document.title='owned'"><svg onload=document.title='owned'>&lt;b&gt;` + "\u202e{{7*7}}"

func statsOf(comments []made) object {
	counts, sum := [6]int{}, 0
	for _, c := range comments {
		counts[c.rating]++
		sum += c.rating
	}
	ratings := []object{}
	for rating := 5; rating >= 1; rating-- {
		ratings = append(ratings, object{"rating": rating, "count": counts[rating]})
	}
	stats := object{"total": len(comments), "average": nil, "ratings": ratings, "verified": len(comments) / 2, "withMedia": 0}
	if len(comments) > 0 {
		stats["average"] = math.Round(float64(sum)/float64(len(comments))*1000) / 1000
	}
	return stats
}

func languagesOf(comments []made) []object {
	counts := map[string]int{}
	for _, c := range comments {
		counts[c.language]++
	}
	found := []object{}
	for tag, count := range counts {
		found = append(found, object{"language": tag, "count": count})
	}
	slices.SortFunc(found, func(a, b object) int {
		return cmp.Or(b["count"].(int)-a["count"].(int), strings.Compare(a["language"].(string), b["language"].(string)))
	})
	return found
}

// planOf returns a plan that read each wanted rating's partition, or the whole product.
func planOf(v variables) object {
	reads := []object{}
	add := func(index, key string) {
		reads = append(reads, object{
			"purpose": "PAGE", "index": index, "partitionKey": key, "sortKeyFrom": nil, "sortKeyTo": "C#01K", "descending": true,
			"limit": 21, "residualRatings": nil, "residualLanguages": nil, "queries": 1, "itemsRead": 20, "itemsKept": 20, "readUnits": 0.5,
		})
	}
	for _, rating := range v.Filter.Ratings {
		add("byRating", fmt.Sprintf("P#%s/%d", v.ID, rating))
	}
	if len(reads) == 0 {
		add("all", "P#"+v.ID)
	}
	return object{
		"summary":    fmt.Sprintf("%d partitions in one wave", len(reads)),
		"candidates": []object{{"name": "ratings", "reads": len(reads), "estimatedUnits": 0.5, "price": 0.6, "chosen": true}, {"name": "whole product", "reads": 1, "estimatedUnits": 3.5, "price": 3.5, "chosen": false}},
		"reads":      reads,
		"skipped":    []object{{"purpose": "PAGE", "index": "byLangAndRating", "partitionKey": "P#" + v.ID + "/de/1", "asOf": "2026-05-24T14:21:49Z"}},
		"position":   nil, "lookups": 0, "queries": len(reads), "waves": 1, "itemsRead": 20 * len(reads), "itemsReturned": 20,
		"readUnits": 0.5 * float64(len(reads)), "milliseconds": 2.34, "age": 0.0,
	}
}
