package bench

// The bare handler is the code of someone who wants only the answers of the cases: no GraphQL, no
// plan, no cursor, no checks. It makes the server's calls, or those of the published way.

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/oklog/ulid/v2"
	"golang.org/x/sync/errgroup"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/layout"
)

// bareHandler answers the operations of the cases, which it recognizes by their variables.
type bareHandler struct {
	client *dynamodb.Client
	table  string
	// reads are the calls for each page. Required, unless published.
	reads bareReads
	// published is whether it reads in the way that is usually published: as many whole items as
	// the page has from each partition, which show only whether more comments follow.
	published bool
}

// bareItem is an item as the SDK has it.
type bareItem = map[string]types.AttributeValue

// bareRequest is the needed part of a request. Its variables show which operation it is.
type bareRequest struct {
	Variables struct {
		ID      string   `json:"id"`
		IDs     []string `json:"ids"`
		Product string   `json:"product"`
		First   int      `json:"first"`
		Filter  struct {
			Languages []string `json:"languages"`
			Ratings   []int    `json:"ratings"`
		} `json:"filter"`
	} `json:"variables"`
}

// The answers, member by member as GraphQL writes them.
type (
	barePage struct {
		Data struct {
			Product struct {
				Comments struct {
					Edges    []bareEdge   `json:"edges"`
					PageInfo barePageInfo `json:"pageInfo"`
				} `json:"comments"`
			} `json:"product"`
		} `json:"data"`
	}
	bareEdge struct {
		Node bareComment `json:"node"`
	}
	barePageInfo struct {
		HasNextPage     bool `json:"hasNextPage"`
		HasPreviousPage bool `json:"hasPreviousPage"`
	}
	bareSingle struct {
		Data struct {
			Comment bareComment `json:"comment"`
		} `json:"data"`
	}
	bareComment struct {
		ID        string     `json:"id"`
		Rating    int        `json:"rating"`
		Language  string     `json:"language"`
		Title     *string    `json:"title"`
		Text      string     `json:"text"`
		Author    bareAuthor `json:"author"`
		CreatedAt time.Time  `json:"createdAt"`
	}
	bareAuthor struct {
		Name string `json:"name"`
	}
)

// ServeHTTP answers one operation.
func (h bareHandler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var request bareRequest
	if err := json.NewDecoder(r.Body).Decode(&request); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	answer, err := h.answer(r.Context(), request)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	raw, err := json.Marshal(answer)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(raw) // a client that went away needs no answer
}

func (h bareHandler) answer(ctx context.Context, request bareRequest) (any, error) {
	if request.Variables.ID != "" {
		return h.single(ctx, request.Variables.ID)
	}
	if request.Variables.IDs != nil {
		return h.stats(ctx, request.Variables.IDs)
	}
	return h.page(ctx, request)
}

func (h bareHandler) single(ctx context.Context, id string) (*bareSingle, error) {
	output, err := h.client.BatchGetItem(ctx, &dynamodb.BatchGetItemInput{
		RequestItems: map[string]types.KeysAndAttributes{h.table: {
			Keys: []map[string]types.AttributeValue{{
				"PK": &types.AttributeValueMemberS{Value: "C#" + strings.TrimPrefix(id, "c_")},
				"SK": &types.AttributeValueMemberS{Value: "C"},
			}},
			ConsistentRead:       aws.Bool(true),
			ProjectionExpression: aws.String("PK,SK,l,r,h,t,U,a,n,v,u,o,k,y,i,A,p,e,z,j,s,f,board,place,m"), // the fields that the API shows
		}},
		ReturnConsumedCapacity: types.ReturnConsumedCapacityTotal,
	})
	if err != nil {
		return nil, err
	}
	out := &bareSingle{}
	out.Data.Comment, err = bareDecode(output.Responses[h.table][0])
	return out, err
}

func (h bareHandler) page(ctx context.Context, request bareRequest) (*barePage, error) {
	items, more, err := h.read(ctx, h.inputs(request))
	if err != nil {
		return nil, err
	}
	slices.SortFunc(items, func(a, b bareItem) int { return strings.Compare(bareText(b["PK"]), bareText(a["PK"])) })
	shown := items[:min(len(items), request.Variables.First)]
	out := &barePage{}
	page := &out.Data.Product.Comments
	page.PageInfo.HasNextPage = len(items) > len(shown) || more
	page.Edges = make([]bareEdge, len(shown))
	for i, item := range shown {
		if page.Edges[i].Node, err = bareDecode(item); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// read makes all calls, in parallel if there are several. More reports whether any of them left
// items unread.
func (h bareHandler) read(ctx context.Context, inputs []*dynamodb.QueryInput) (items []bareItem, more bool, err error) {
	if len(inputs) == 1 {
		return h.query(ctx, inputs[0])
	}
	lists := make([][]bareItem, len(inputs))
	mores := make([]bool, len(inputs))
	group, ctx := errgroup.WithContext(ctx)
	for i, input := range inputs {
		group.Go(func() (err error) {
			lists[i], mores[i], err = h.query(ctx, input)
			return err
		})
	}
	err = group.Wait()
	return slices.Concat(lists...), slices.Contains(mores, true), err
}

func (h bareHandler) query(ctx context.Context, input *dynamodb.QueryInput) (items []bareItem, more bool, err error) {
	output, err := h.client.Query(ctx, input)
	if err != nil {
		return nil, false, err
	}
	return output.Items, output.LastEvaluatedKey != nil, nil
}

// inputs are the calls for a page.
func (h bareHandler) inputs(request bareRequest) []*dynamodb.QueryInput {
	if h.published {
		return publishedInputs(h.table, request)
	}
	return h.reads.of(request)
}

// publishedInputs returns a call for each partition that the filter names.
func publishedInputs(table string, request bareRequest) []*dynamodb.QueryInput {
	v := request.Variables
	product := "P#" + v.Product
	input := func(index, attr, key string) *dynamodb.QueryInput {
		return &dynamodb.QueryInput{
			TableName:                 aws.String(table),
			IndexName:                 aws.String(index),
			KeyConditionExpression:    aws.String(attr + " = :p"),
			ExpressionAttributeValues: map[string]types.AttributeValue{":p": &types.AttributeValueMemberS{Value: key}},
			ScanIndexForward:          aws.Bool(false),
			Limit:                     aws.Int32(int32(v.First)),
			ReturnConsumedCapacity:    types.ReturnConsumedCapacityTotal,
		}
	}
	if len(v.Filter.Ratings) == 0 {
		return []*dynamodb.QueryInput{input("all", "A", product)}
	}
	var out []*dynamodb.QueryInput
	for _, rating := range v.Filter.Ratings {
		stars := "/" + strconv.Itoa(rating)
		if len(v.Filter.Languages) == 0 {
			out = append(out, input("byRating", "R", product+stars))
		}
		for _, language := range v.Filter.Languages {
			out = append(out, input("byLangAndRating", "B", product+"/"+language+stars))
		}
	}
	return out
}

func bareDecode(item bareItem) (bareComment, error) {
	position := strings.TrimPrefix(bareText(item["PK"]), "C#")
	id, err := ulid.ParseStrict(position)
	if err != nil {
		return bareComment{}, err
	}
	rating, err := strconv.Atoi(item["r"].(*types.AttributeValueMemberN).Value)
	if err != nil {
		return bareComment{}, err
	}
	text, err := bareBody(item["t"])
	if err != nil {
		return bareComment{}, err
	}
	c := bareComment{
		ID:        "c_" + position,
		Rating:    rating,
		Language:  bareText(item["l"]),
		Text:      text,
		Author:    bareAuthor{Name: bareText(item["n"])},
		CreatedAt: ulid.Time(id.Time()).UTC(),
	}
	if item["h"] != nil {
		c.Title = new(bareText(item["h"]))
	}
	return c, nil
}

// bareBody is a text in either of its forms.
func bareBody(value types.AttributeValue) (string, error) {
	if short, compressed := value.(*types.AttributeValueMemberB); compressed {
		return layout.ExpandText(short.Value, comment.MaxTextBytes)
	}
	return bareText(value), nil
}

func bareText(value types.AttributeValue) string { return value.(*types.AttributeValueMemberS).Value }
