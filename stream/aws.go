package stream

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	tabletypes "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"
	"github.com/aws/smithy-go"
)

// NewClient makes a client for streams from a client for tables. It copies region, credentials,
// connections, retries and the verification of answers. It also copies the endpoint, unless that is
// one of AWS, where streams have their own endpoints.
func NewClient(from *dynamodb.Client) *dynamodbstreams.Client {
	o := from.Options()
	options := dynamodbstreams.Options{
		Region:      o.Region,
		Credentials: o.Credentials,
		HTTPClient:  o.HTTPClient,
		Retryer:     o.Retryer,
		APIOptions:  o.APIOptions,
	}
	if o.BaseEndpoint != nil && !strings.Contains(*o.BaseEndpoint, ".amazonaws.com") {
		options.BaseEndpoint = o.BaseEndpoint
	}
	return dynamodbstreams.New(options)
}

// streams is the part of the SDK's client that a Source works with.
type streams interface {
	DescribeStream(context.Context, *dynamodbstreams.DescribeStreamInput, ...func(*dynamodbstreams.Options)) (*dynamodbstreams.DescribeStreamOutput, error)
	GetShardIterator(context.Context, *dynamodbstreams.GetShardIteratorInput, ...func(*dynamodbstreams.Options)) (*dynamodbstreams.GetShardIteratorOutput, error)
	GetRecords(context.Context, *dynamodbstreams.GetRecordsInput, ...func(*dynamodbstreams.Options)) (*dynamodbstreams.GetRecordsOutput, error)
}

// tableStream is the latest stream of a table.
type tableStream struct {
	client streams
	tables dynamodb.DescribeTableAPIClient
	table  string

	mu sync.Mutex
	// arns maps the labels of the streams seen so far to their ARNs.
	arns map[string]string
}

// NewSource makes a source of the latest stream of a table.
func NewSource(client streams, tables dynamodb.DescribeTableAPIClient, table string) Source {
	return &tableStream{client: client, tables: tables, table: table, arns: map[string]string{}}
}

// Shards looks up the latest stream first, since streams may have been switched off and on.
func (s *tableStream) Shards(ctx context.Context) (Listing, error) {
	output, err := s.tables.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: aws.String(s.table)})
	if errors.As(err, new(*tabletypes.ResourceNotFoundException)) {
		return Listing{}, fmt.Errorf("table %q does not exist: %w", s.table, ErrNoStream)
	}
	if err != nil {
		return Listing{}, fmt.Errorf("DescribeTable %s: %w", s.table, err)
	}
	arn, label := aws.ToString(output.Table.LatestStreamArn), aws.ToString(output.Table.LatestStreamLabel)
	if arn == "" {
		return Listing{}, fmt.Errorf("table %q: %w", s.table, ErrNoStream)
	}
	s.mu.Lock()
	s.arns[label] = arn
	s.mu.Unlock()
	listing := Listing{Label: label}
	for input := (&dynamodbstreams.DescribeStreamInput{StreamArn: aws.String(arn)}); ; {
		output, err := s.client.DescribeStream(ctx, input)
		if err != nil {
			return Listing{}, explain(err, "DescribeStream")
		}
		if output.StreamDescription == nil { // such as {}, of something that is no engine
			return Listing{}, errors.New("DescribeStream: the answer describes no stream")
		}
		if err := checkView(string(output.StreamDescription.StreamViewType)); err != nil {
			return Listing{}, err
		}
		for _, shard := range output.StreamDescription.Shards {
			// The range of sequence numbers does not show whether a shard is closed: some engines
			// have an end for open shards too.
			listing.Shards = append(listing.Shards, Shard{ID: aws.ToString(shard.ShardId), Parent: aws.ToString(shard.ParentShardId)})
		}
		if input.ExclusiveStartShardId = output.StreamDescription.LastEvaluatedShardId; input.ExclusiveStartShardId == nil {
			return listing, nil
		}
	}
}

// checkView returns an error if a stream lacks images. Without old images, deletions would not be
// counted; without new images, every edit would count as a deletion. Engines need not say what a
// stream has.
func checkView(view string) error {
	const want = string(types.StreamViewTypeNewAndOldImages)
	if view == "" || view == want {
		return nil
	}
	return fmt.Errorf("the stream has %s, by which nothing can be counted: switch it off, and on again with %s", view, want)
}

// Open never begins at the latest record, since that would skip the records before it.
func (s *tableStream) Open(ctx context.Context, label, shard, after string) (string, error) {
	s.mu.Lock()
	arn, known := s.arns[label]
	s.mu.Unlock()
	if !known {
		return "", ErrGone
	}
	input := &dynamodbstreams.GetShardIteratorInput{
		StreamArn:         aws.String(arn),
		ShardId:           aws.String(shard),
		ShardIteratorType: types.ShardIteratorTypeTrimHorizon,
	}
	if after != "" {
		input.ShardIteratorType = types.ShardIteratorTypeAfterSequenceNumber
		input.SequenceNumber = aws.String(after)
	}
	output, err := s.client.GetShardIterator(ctx, input)
	if api, ok := errors.AsType[smithy.APIError](err); ok && after != "" && api.ErrorCode() == "ValidationException" {
		return "", ErrTrimmed // the checkpoint was damaged by hand, so the next record is unknown
	}
	if err != nil {
		return "", explain(err, "GetShardIterator")
	}
	return aws.ToString(output.ShardIterator), nil
}

// Read returns as many records as AWS returns at once: up to 1,000, or 1 MB.
func (s *tableStream) Read(ctx context.Context, label, iterator string) (Batch, error) {
	output, err := s.client.GetRecords(ctx, &dynamodbstreams.GetRecordsInput{ShardIterator: aws.String(iterator)})
	if err != nil {
		return Batch{}, explain(err, "GetRecords")
	}
	batch := Batch{Next: aws.ToString(output.NextShardIterator), Records: make([]Record, 0, len(output.Records))}
	for _, record := range output.Records {
		if record.Dynamodb == nil {
			continue
		}
		converted, err := recordOf(label, *record.Dynamodb)
		if err != nil {
			return Batch{}, err
		}
		batch.Records = append(batch.Records, converted)
	}
	return batch, nil
}

func explain(err error, call string) error {
	switch {
	case errors.As(err, new(*types.ExpiredIteratorException)):
		return ErrExpired
	case errors.As(err, new(*types.TrimmedDataAccessException)):
		return ErrTrimmed
	case errors.As(err, new(*types.ResourceNotFoundException)):
		return fmt.Errorf("%s: %w", call, ErrGone)
	}
	return fmt.Errorf("%s: %w", call, err)
}

// recordOf converts a record: the SDK has its own type for attribute values in each package.
func recordOf(label string, r types.StreamRecord) (Record, error) {
	sequence := aws.ToString(r.SequenceNumber)
	record := Record{Position: PositionOf(label, sequence), Sequence: sequence, Created: aws.ToTime(r.ApproximateCreationDateTime)}
	for _, image := range []struct {
		from map[string]types.AttributeValue
		to   *map[string]tabletypes.AttributeValue
	}{{r.Keys, &record.Keys}, {r.OldImage, &record.Old}, {r.NewImage, &record.New}} {
		if image.from == nil {
			continue
		}
		var err error
		if *image.to, err = attributevalue.FromDynamoDBStreamsMap(image.from); err != nil {
			return Record{}, fmt.Errorf("record %s: %w", sequence, err)
		}
	}
	return record, nil
}
