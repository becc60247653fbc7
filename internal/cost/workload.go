// Package cost computes what a month of the service costs on AWS, from a description of a shop or
// from a server's metrics. It has no table of units: the planner estimates the reads of pages in a
// similar catalogue, and DynamoDB's rules give the writes of each change from its items. Constants
// that were measured instead name their source.
//
// Start with bill.go. workload.go describes a shop, reads.go computes the units, limits.go the
// limits of one product and one partition, and measured.go evaluates a server's metrics.
package cost

import (
	"errors"
	"fmt"
	"io"
	"math"
	"reflect"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/talkback/talkback/comment"
)

// Workload describes what happens in a shop. Numbers are per month unless stated otherwise.
type Workload struct {
	// Products and Comments are the numbers at the beginning. Comments are spread over the products
	// by Zipf's law: the product of rank r has 1/r of the comments and views of the first.
	Products float64 `json:"products"`
	Comments float64 `json:"comments"`
	// Hottest is the share of the most popular product in views and new comments at peaks; 0 means
	// its share by Zipf's law.
	Hottest float64 `json:"hottest"`
	// Month is the number of the billed month, from 1: storage grows until its end.
	Month float64 `json:"month"`
	// Peak is the load of the busiest second, relative to the mean.
	Peak float64 `json:"peak"`

	// Views is the number of page views, and Kinds the shares of their kinds, which add up to 1.
	Views float64 `json:"views"`
	Kinds Kinds   `json:"kinds"`
	// Cached is the share of views that a cache in front of the table answers.
	Cached float64 `json:"cached"`

	// NewComments are added in the month; Held is the share of them that waits for a moderator. The
	// other numbers concern all comments.
	NewComments float64 `json:"newComments"`
	Held        float64 `json:"held"`
	// Keyed is the share of new comments that are sent with an idempotency key.
	Keyed     float64 `json:"keyed"`
	Edits     float64 `json:"edits"`
	Deletions float64 `json:"deletions"`
	Votes     float64 `json:"votes"`
	Replies   float64 `json:"replies"`
	Reports   float64 `json:"reports"`

	// PageSize is the number of comments on a page, ListSize that of products in a list, and
	// Leaders that of places in a leaderboard.
	PageSize float64 `json:"pageSize"`
	ListSize float64 `json:"listSize"`
	Leaders  float64 `json:"leaders"`
	// TextBytes and TitleBytes are mean sizes of customers' texts, ReplyBytes that of replies.
	TextBytes  float64 `json:"textBytes"`
	TitleBytes float64 `json:"titleBytes"`
	ReplyBytes float64 `json:"replyBytes"`
	// Languages is the number of languages of a product's comments; each has half as many comments
	// as the one before. A filtered list selects FilterLanguages and FilterRatings.
	Languages       float64 `json:"languages"`
	FilterLanguages float64 `json:"filterLanguages"`
	FilterRatings   float64 `json:"filterRatings"`

	// Backups is whether the table has point-in-time recovery.
	Backups bool `json:"backups"`
	// Shards is the number of shards of the stream, 0 for one per partition of the table.
	Shards float64 `json:"shards"`
	// Servers answer the API, at ServerHour dollars an hour. Without servers, a function does.
	Servers    float64 `json:"servers"`
	ServerHour float64 `json:"serverHour"`
	// CountingFunction is whether a function counts instead of the servers.
	CountingFunction bool `json:"countingFunction"`
	// FunctionMB and FunctionMS are the memory of a function and the duration of an invocation.
	FunctionMB float64 `json:"functionMB"`
	FunctionMS float64 `json:"functionMS"`
	// AnswerBytes is the size of an answer, to bill the transfer out of AWS; 0 bills none.
	AnswerBytes float64 `json:"answerBytes"`
	// Utilisation is how much of provisioned capacity is used on average.
	Utilisation float64 `json:"utilisation"`
}

// Kinds are the shares of kinds of pages among views.
type Kinds struct {
	// Product is a product page: the newest comments and statistics.
	Product float64 `json:"product"`
	// Further are pages reached by cursor.
	Further float64 `json:"further"`
	// Numbered are pages by number, with statistics.
	Numbered float64 `json:"numbered"`
	// Filtered are first pages of filtered lists, with statistics.
	Filtered float64 `json:"filtered"`
	// Lists are lists of products with the statistics of each.
	Lists        float64 `json:"lists"`
	Leaderboards float64 `json:"leaderboards"`
}

// Typical returns defaults that suit most shops, without products, comments and views.
func Typical() Workload {
	return Workload{
		Month: 1, Peak: 4, Kinds: Kinds{Product: 1}, Keyed: 1,
		PageSize: comment.DefaultPageSize, ListSize: 24, Leaders: 10, TextBytes: 250, TitleBytes: 30, ReplyBytes: 150,
		Languages: 3, FilterLanguages: 1, FilterRatings: 2,
		Servers: 2, ServerHour: 0.0168, FunctionMB: 512, FunctionMS: 40, Utilisation: 0.5,
	}
}

// maxNumber bounds all numbers. A larger one is a typing error.
const maxNumber = 1e15

// ReadWorkload reads a workload from JSON. Missing values default to those of Typical.
func ReadWorkload(text []byte) (Workload, error) {
	w := Typical()
	if err := json.Unmarshal(text, &w, json.RejectUnknownMembers(true)); err != nil {
		return w, inWords(err)
	}
	return w, w.check()
}

// UnmarshalJSONFrom reads shares. Missing ones are 0, not those of Typical.
func (k *Kinds) UnmarshalJSONFrom(in *jsontext.Decoder) error {
	type shares Kinds
	var given shares
	err := json.UnmarshalDecode(in, &given)
	*k = Kinds(given)
	return err
}

// inWords turns a JSON error into one that names the cure.
func inWords(err error) error {
	const example = `{"products": 2000, "comments": 20000, "views": 100000}`
	if syntax, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
		switch {
		case errors.Is(err, io.ErrUnexpectedEOF):
			return errors.New("the JSON of the workload ends early: give an object such as " + example)
		case errors.Is(err, jsontext.ErrDuplicateName):
			return fmt.Errorf("%s stands twice: remove one of them", named(syntax.JSONPointer))
		}
		return fmt.Errorf("it is invalid JSON at byte %d: write numbers as 1000 or 1e3, not as NaN, and nothing after the object", syntax.ByteOffset+1)
	}
	wrong, ok := errors.AsType[*json.SemanticError](err)
	switch {
	case !ok:
		return err
	case errors.Is(err, json.ErrUnknownName):
		return fmt.Errorf("a workload has no field %.40q: docs/operate/cost.md lists the names", named(wrong.JSONPointer))
	case wrong.GoType.Kind() == reflect.Float64:
		return fmt.Errorf("%s: give a number below 1e15", named(wrong.JSONPointer))
	case wrong.GoType.Kind() == reflect.Bool:
		return fmt.Errorf("%s: give true or false", named(wrong.JSONPointer))
	}
	return fmt.Errorf("the workload, and kinds within it, are objects of names and numbers, such as %s", example)
}

// named returns a pointer as names separated by dots, such as kinds.product.
func named(at jsontext.Pointer) string { return strings.Join(slices.Collect(at.Tokens()), ".") }

func (w Workload) check() error {
	if err := checkFields("", reflect.ValueOf(w)); err != nil {
		return err
	}
	k := w.Kinds
	sum := k.Product + k.Further + k.Numbered + k.Filtered + k.Lists + k.Leaderboards
	switch {
	case w.Views > 0 && math.Abs(sum-1) > 0.001:
		return fmt.Errorf("the shares of kinds add up to %.3g, not 1: change them, or leave kinds out for product pages alone", sum)
	case w.Products < 1:
		return errors.New("products is missing: give how many products have comments, 1 or more")
	case w.Comments < w.Products:
		return fmt.Errorf("comments is %v, fewer than products: count only the products that have comments", w.Comments)
	case w.Servers > 0 && w.Servers < 1 || w.Month < 1 || w.Peak < 1 || w.Languages < 1:
		return errors.New("servers, month, peak and languages are 1 or more; no servers at all is 0")
	case w.PageSize < 1 || w.PageSize > comment.MaxPageSize || w.Leaders < 1 || w.Leaders > comment.MaxLeaders:
		return fmt.Errorf("pageSize is 1 to %d, and leaders 1 to %d", comment.MaxPageSize, comment.MaxLeaders)
	case w.TextBytes > comment.MaxTextBytes || w.TitleBytes > comment.MaxTitleBytes || w.ReplyBytes > comment.MaxTextBytes:
		return fmt.Errorf("textBytes and replyBytes are %d at most, and titleBytes %d", comment.MaxTextBytes, comment.MaxTitleBytes)
	case w.FilterRatings > comment.MaxRating || w.FilterLanguages > w.Languages || w.Languages > comment.MaxLanguageRows:
		return fmt.Errorf("a list is filtered by at most %d ratings, and by no more languages than there are, %d at most", comment.MaxRating, comment.MaxLanguageRows)
	case w.Servers == 0 && !w.CountingFunction:
		return errors.New("without servers, a function has to count: set countingFunction to true")
	case w.Utilisation == 0:
		return errors.New("utilisation is above 0: 0.5 is what auto scaling with a target of 70 % reaches where nights are quiet")
	}
	return nil
}

// shares are the names of numbers that are at most 1.
var shares = map[string]bool{"hottest": true, "cached": true, "held": true, "keyed": true, "utilisation": true}

func checkFields(within string, value reflect.Value) error {
	for i := range value.NumField() {
		field := value.Field(i)
		name := value.Type().Field(i).Tag.Get("json")
		switch field.Kind() {
		case reflect.Struct:
			if err := checkFields(name+".", field); err != nil {
				return err
			}
		case reflect.Float64:
			most := maxNumber
			if within != "" || shares[name] {
				most = 1
			}
			if n := field.Float(); math.IsNaN(n) || n < 0 || n > most {
				return fmt.Errorf("%s%s is %v: give a number from 0 to %v", within, name, n, most)
			}
		}
	}
	return nil
}
