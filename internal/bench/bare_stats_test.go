package bench

import (
	"context"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// The answer about statistics, member by member as GraphQL writes it.
type (
	bareProducts struct {
		Data struct {
			Products []bareProduct `json:"products"`
		} `json:"data"`
	}
	bareProduct struct {
		ID    string    `json:"id"`
		Stats bareStats `json:"stats"`
	}
	bareStats struct {
		Total   int             `json:"total"`
		Average *float64        `json:"average"`
		Ratings []bareRatingRow `json:"ratings"`
	}
	bareRatingRow struct {
		Rating int `json:"rating"`
		Count  int `json:"count"`
	}
)

// stats answers with the statistics of products, all of which have comments.
func (h bareHandler) stats(ctx context.Context, ids []string) (*bareProducts, error) {
	keys := make([]map[string]types.AttributeValue, len(ids))
	for i, id := range ids {
		keys[i] = map[string]types.AttributeValue{
			"PK": &types.AttributeValueMemberS{Value: "P#" + id},
			"SK": &types.AttributeValueMemberS{Value: "S"},
		}
	}
	output, err := h.client.BatchGetItem(ctx, &dynamodb.BatchGetItemInput{
		RequestItems:           map[string]types.KeysAndAttributes{h.table: {Keys: keys, ProjectionExpression: aws.String("PK,g,k")}},
		ReturnConsumedCapacity: types.ReturnConsumedCapacityTotal,
	})
	if err != nil {
		return nil, err
	}
	found := map[string]bareStats{}
	for _, item := range output.Responses[h.table] {
		if found[bareText(item["PK"])], err = bareCount(bareText(item["g"])); err != nil {
			return nil, err
		}
	}
	out := &bareProducts{}
	for _, id := range ids {
		out.Data.Products = append(out.Data.Products, bareProduct{ID: id, Stats: found["P#"+id]})
	}
	return out, nil
}

// bareCount adds up the counts of all languages.
func bareCount(grid string) (bareStats, error) {
	out := bareStats{Ratings: []bareRatingRow{{Rating: 5}, {Rating: 4}, {Rating: 3}, {Rating: 2}, {Rating: 1}}}
	stars := 0
	for language := range strings.SplitSeq(grid, " ") {
		_, counts, _ := strings.Cut(language, "=")
		for i, digits := range strings.Split(counts, ",") {
			n, err := strconv.Atoi(digits)
			if err != nil {
				return out, err
			}
			out.Ratings[4-i].Count += n
			out.Total += n
			stars += (i + 1) * n
		}
	}
	out.Average = new(float64(stars) / float64(out.Total))
	return out, nil
}
