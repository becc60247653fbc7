package stream

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	tabletypes "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"
	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/document"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/internal/commenttest/must"
)

// scripted is a table with a stream of many shards, a few to a page.
type scripted struct {
	arn    *string
	err    error
	opened *dynamodbstreams.GetShardIteratorInput
	next   *string
	silent bool // whether the stream is not described
	view   types.StreamViewType
}

func (s *scripted) DescribeTable(context.Context, *dynamodb.DescribeTableInput, ...func(*dynamodb.Options)) (*dynamodb.DescribeTableOutput, error) {
	return &dynamodb.DescribeTableOutput{Table: &tabletypes.TableDescription{LatestStreamArn: s.arn, LatestStreamLabel: aws.String("label")}}, s.err
}

func (s *scripted) DescribeStream(_ context.Context, in *dynamodbstreams.DescribeStreamInput, _ ...func(*dynamodbstreams.Options)) (*dynamodbstreams.DescribeStreamOutput, error) {
	if s.silent {
		return &dynamodbstreams.DescribeStreamOutput{}, nil
	}
	first := 0
	_, _ = fmt.Sscanf(aws.ToString(in.ExclusiveStartShardId), "shard %d", &first)
	out := &types.StreamDescription{StreamViewType: s.view}
	for i := first + 1; i <= min(first+3, 7); i++ {
		shard := types.Shard{ShardId: aws.String(fmt.Sprint("shard ", i)), SequenceNumberRange: &types.SequenceNumberRange{EndingSequenceNumber: aws.String("9")}}
		if i > 1 {
			shard.ParentShardId = aws.String(fmt.Sprint("shard ", i-1))
		}
		out.Shards = append(out.Shards, shard)
	}
	if first+3 < 7 {
		out.LastEvaluatedShardId = out.Shards[len(out.Shards)-1].ShardId
	}
	return &dynamodbstreams.DescribeStreamOutput{StreamDescription: out}, nil
}

func (s *scripted) GetShardIterator(_ context.Context, in *dynamodbstreams.GetShardIteratorInput, _ ...func(*dynamodbstreams.Options)) (*dynamodbstreams.GetShardIteratorOutput, error) {
	s.opened = in
	return &dynamodbstreams.GetShardIteratorOutput{ShardIterator: aws.String("iterator")}, s.err
}

func (s *scripted) GetRecords(context.Context, *dynamodbstreams.GetRecordsInput, ...func(*dynamodbstreams.Options)) (*dynamodbstreams.GetRecordsOutput, error) {
	return &dynamodbstreams.GetRecordsOutput{NextShardIterator: s.next}, s.err
}

func TestShardsAreReadInAllPages(t *testing.T) {
	s := &scripted{arn: aws.String("arn")}
	listing, err := NewSource(s, s, "t").Shards(t.Context())
	if err != nil || len(listing.Shards) != 7 || listing.Label != "label" {
		t.Fatal(listing, err)
	}
	if last := listing.Shards[6]; last != (Shard{ID: "shard 7", Parent: "shard 6"}) {
		t.Errorf("the last is %v", last)
	}
	s.silent = true
	if _, err := NewSource(s, s, "t").Shards(t.Context()); err == nil {
		t.Error("an answer without a stream lists no shards, and is no error")
	}
}

// A stream that was switched off and on again with other images is not read: each server checks the
// table when it starts, and not again.
func TestStreamWithoutImages(t *testing.T) {
	for view, fits := range map[types.StreamViewType]bool{
		"": true, types.StreamViewTypeNewAndOldImages: true,
		types.StreamViewTypeNewImage: false, types.StreamViewTypeOldImage: false, types.StreamViewTypeKeysOnly: false,
	} {
		s := &scripted{arn: aws.String("arn"), view: view}
		if _, err := NewSource(s, s, "t").Shards(t.Context()); (err == nil) != fits || errors.Is(err, ErrNoStream) {
			t.Errorf("a stream of %q: %v", view, err)
		}
	}
}

func TestWithoutAStream(t *testing.T) {
	for why, s := range map[string]*scripted{
		"it was never switched on": {},
		"there is no table":        {err: &tabletypes.ResourceNotFoundException{}},
	} {
		if _, err := NewSource(s, s, "t").Shards(t.Context()); !errors.Is(err, ErrNoStream) {
			t.Errorf("%s: %v", why, err)
		}
		if err := (&Consumer{Source: NewSource(s, s, "t")}).Run(t.Context()); !errors.Is(err, ErrNoStream) {
			t.Errorf("%s: run: %v", why, err)
		}
	}
}

// A shard is opened after its checkpoint or at its oldest record, never at the latest.
func TestWhereAShardIsOpened(t *testing.T) {
	s := &scripted{arn: aws.String("arn")}
	source := NewSource(s, s, "t")
	if _, err := source.Open(t.Context(), "label", "x", ""); !errors.Is(err, ErrGone) {
		t.Errorf("a shard of a stream that was never listed: %v", err)
	}
	must.Get(source.Shards(t.Context()))(t)
	for after, want := range map[string]types.ShardIteratorType{
		"": types.ShardIteratorTypeTrimHorizon, "17": types.ShardIteratorTypeAfterSequenceNumber,
	} {
		must.Get(source.Open(t.Context(), "label", "x", after))(t)
		if s.opened.ShardIteratorType != want || aws.ToString(s.opened.SequenceNumber) != after {
			t.Errorf("after %q: %+v", after, s.opened)
		}
	}
	s.err = &smithy.GenericAPIError{Code: "ValidationException"}
	if _, err := source.Open(t.Context(), "label", "x", "damaged"); !errors.Is(err, ErrTrimmed) {
		t.Errorf("after a checkpoint that is none: %v", err)
	}
	if _, err := source.Open(t.Context(), "label", "x", ""); err == nil || errors.Is(err, ErrTrimmed) {
		t.Errorf("at the oldest record: %v", err)
	}
}

func TestErrorsOfAStream(t *testing.T) {
	for _, row := range []struct{ err, want error }{
		{&types.ExpiredIteratorException{}, ErrExpired},
		{&types.TrimmedDataAccessException{}, ErrTrimmed},
		{&types.ResourceNotFoundException{}, ErrGone},
	} {
		s := &scripted{arn: aws.String("arn"), err: row.err}
		if _, err := NewSource(s, s, "t").Read(t.Context(), "label", "i"); !errors.Is(err, row.want) {
			t.Errorf("%T: %v", row.err, err)
		}
	}
}

// Errors of the calls that count records: a temporary error is retried, any other dead-letters the
// record. A reader retries its own calls after any error.
func TestWhichErrorsPass(t *testing.T) {
	call := func(err error) error {
		return fmt.Errorf("count: %w", &smithy.OperationError{ServiceID: "DynamoDB", OperationName: "TransactWriteItems", Err: err})
	}
	api := func(code string) error { return call(&smithy.GenericAPIError{Code: code}) }
	for _, row := range []struct {
		err    error
		passes bool
		why    string
	}{
		{comment.Errorf(comment.Throttled, "busy"), true, "the table is at its limit"},
		{comment.Errorf(comment.Unavailable, "down"), true, "the table is away"},
		{comment.Errorf(comment.Timeout, "late"), true, "no answer"},
		{comment.Errorf(comment.Canceled, "over"), true, "the process ends"},
		{api("AccessDeniedException"), true, "a permission is missing: not the record's fault"},
		{api("UnrecognizedClientException"), true, "wrong credentials: not the record's fault"},
		{api("KMSAccessDeniedException"), true, "the table's key is closed: not the record's fault"},
		{api("IdempotentParameterMismatchException"), true, "the next try has another token"},
		{call(errors.New("no credentials")), true, "no credentials at all"},
		{api("ValidationException"), false, "what the record makes cannot be written"},
		{api("TransactionCanceledException"), false, "the same, in a transaction"},
		{errors.New("no language and rating"), false, "the record has nothing that can be counted"},
	} {
		if got := Passes(row.err); got != row.passes {
			t.Errorf("%v passes: %v: %s", row.err, got, row.why)
		}
	}
}

// A record has the key and the images of its item, as far as the stream has them.
func TestRecordOf(t *testing.T) {
	image := map[string]types.AttributeValue{"s": &types.AttributeValueMemberS{Value: "x"}}
	got := must.Get(recordOf("l", types.StreamRecord{Keys: image, NewImage: image, SequenceNumber: aws.String("7")}))(t)
	item := map[string]tabletypes.AttributeValue{"s": &tabletypes.AttributeValueMemberS{Value: "x"}}
	want := Record{Position: PositionOf("l", "7"), Sequence: "7", Keys: item, New: item}
	if diff := cmp.Diff(want, got, cmpopts.IgnoreTypes(document.NoSerde{})); diff != "" {
		t.Error(diff)
	}
}

// A client for streams uses the endpoint of the table's client, except on AWS, where streams have
// other endpoints.
func TestWhereTheStreamIsAsked(t *testing.T) {
	for endpoint, copied := range map[string]bool{"http://127.0.0.1:8000": true, "https://dynamodb.eu-west-1.amazonaws.com": false} {
		from := dynamodb.New(dynamodb.Options{
			Region: "eu-west-1", BaseEndpoint: aws.String(endpoint), Credentials: credentials.NewStaticCredentialsProvider("a", "b", ""),
		})
		options := NewClient(from).Options()
		if (options.BaseEndpoint != nil) != copied || options.Region != "eu-west-1" || options.Credentials == nil {
			t.Errorf("%s: %+v", endpoint, options)
		}
	}
}
