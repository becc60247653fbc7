package dynamo

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/call"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/dynamo/leases"
	"github.com/talkback/talkback/internal/commenttest"
	"github.com/talkback/talkback/internal/faulttest"
	"github.com/talkback/talkback/stream"
)

// uses are the calls that the package makes to DynamoDB, by name.
var uses = map[string]func(context.Context, *dynamodb.Client, *Store) error{
	"Query": func(ctx context.Context, _ *dynamodb.Client, s *Store) error {
		return errorOf(s.Comments(ctx, comment.Query{Product: "p", Slice: comment.Slice{Size: 1}}))
	},
	"GetItem": func(ctx context.Context, _ *dynamodb.Client, s *Store) error {
		return errorOf(s.Inspect(ctx, errorsID))
	},
	"BatchGetItem": func(ctx context.Context, _ *dynamodb.Client, s *Store) error {
		_, _, err := s.CommentsByID(ctx, []comment.ID{errorsID}, false)
		return err
	},
	"Scan": func(ctx context.Context, client *dynamodb.Client, _ *Store) error {
		return errorOf(HasComments(ctx, client, "t"))
	},
	"PutItem": func(ctx context.Context, _ *dynamodb.Client, s *Store) error {
		return errorOf(s.Add(ctx, errorsComment, ""))
	},
	"PutItem of an edit": func(ctx context.Context, _ *dynamodb.Client, s *Store) error {
		return s.Replace(ctx, errorsComment, errorsComment)
	},
	"PutItem of a delete": func(ctx context.Context, _ *dynamodb.Client, s *Store) error { return s.Delete(ctx, errorsComment) },
	"PutItem of a lease": func(ctx context.Context, client *dynamodb.Client, _ *Store) error {
		return leases.NewLeases(client, "t").SwapState(ctx, stream.State{Version: 1}, stream.State{})
	},
	"TransactWriteItems": func(ctx context.Context, _ *dynamodb.Client, s *Store) error {
		return errorOf(s.Add(ctx, errorsComment, "key"))
	},
	"TransactWriteItems of counts": func(ctx context.Context, client *dynamodb.Client, _ *Store) error {
		return call.Transact(ctx, client, []types.TransactWriteItem{call.PutIf("t", layout.CommentKey(errorsID), "", nil)})
	},
	"PutItem of a load": func(ctx context.Context, client *dynamodb.Client, _ *Store) error {
		loader := NewLoader(client, "t", 1)
		return loader.writeOne(ctx, loading{errorsComment, loader.putOf(errorsComment, nil)})
	},
	"DescribeTable": func(ctx context.Context, _ *dynamodb.Client, s *Store) error { return s.Ready(ctx) },
	"CreateTable": func(ctx context.Context, client *dynamodb.Client, _ *Store) error {
		return CreateTable(ctx, client, "t")
	},
	"UpdateTimeToLive": func(ctx context.Context, client *dynamodb.Client, _ *Store) error {
		_, err := client.UpdateTimeToLive(ctx, layout.TimeToLive("t"))
		return call.Wrap(err, "UpdateTimeToLive")
	},
}

func errorOf[T any](_ T, err error) error { return err }

const errorsID = comment.ID("c_01HZ0000000000000000000000")

var errorsComment = comment.Comment{
	ID: errorsID, ProductID: "p", Rating: 5, Language: "en", Text: "Fine.", Author: comment.Author{ID: "a", Name: "A"}, Version: 1,
}

// Groups of calls.
const (
	reads         = "Query, GetItem, BatchGetItem, Scan"
	singleWrites  = "PutItem, PutItem of an edit, PutItem of a delete"
	transactions  = "TransactWriteItems"
	dataCalls     = reads + ", " + singleWrites + ", PutItem of a lease, " + transactions + ", TransactWriteItems of counts, PutItem of a load"
	tableCalls    = "DescribeTable, CreateTable, UpdateTimeToLive"
	allCalls      = dataCalls + ", " + tableCalls
	again         = true
	once          = false
	cancellations = "TransactWriteItems, TransactWriteItems of counts"
)

// The outcome of each error that AWS documents for a call of this package, and of the errors common
// to all calls: its kind, whether the call is retried first, and, for a write, whether its outcome
// is unknown.
func TestWhatErrorsMean(t *testing.T) {
	for _, row := range []struct {
		code   string
		status int
		more   string
		calls  string
		kind   comment.Kind
		again  bool
		lost   bool
		why    string
	}{
		{"ProvisionedThroughputExceededException", 400, "", dataCalls, comment.Throttled, again, false, "a partition or the table is at its limit"},
		{"RequestLimitExceeded", 400, "", dataCalls, comment.Throttled, again, false, "the account is at its limit"},
		{"ThrottlingException", 400, `,"throttlingReasons":[{"reason":"TableWriteKeyRangeThroughputExceeded"}]`, allCalls, comment.Throttled, again, false, "a partition is, and it says which"},
		{"LimitExceededException", 400, "", "CreateTable, UpdateTimeToLive", comment.Throttled, again, false, "too many tables are being changed"},
		{"TransactionConflictException", 400, "", singleWrites + ", PutItem of a lease", comment.Throttled, again, false, "a transaction is at work on the item"},
		{"ReplicatedWriteConflictException", 400, "", singleWrites + ", PutItem of a lease", comment.Throttled, again, false, "another region is"},
		{"ReplicatedWriteConflictException", 400, "", "PutItem of a load", comment.Throttled, once, false, "another region is; the loader reads before it tries again"},
		{"TransactionInProgressException", 400, "", transactions, comment.Unavailable, again, true, "an earlier copy of this call may be at work, and may succeed"},
		{"TransactionInProgressException", 400, "", "TransactWriteItems of counts", comment.Throttled, again, false, "the counter reads what is there, and decides anew"},
		{"IdempotentParameterMismatchException", 400, "", cancellations, comment.Internal, once, false, "tokens are made anew: a fault of ours"},
		{"ItemCollectionSizeLimitExceededException", 400, "", singleWrites + ", PutItem of a load", comment.Internal, once, false, "only tables with local indexes have this limit, and ours have none"},
		{"ResourceInUseException", 400, "", "UpdateTimeToLive", comment.Unavailable, once, false, "the table is being made or changed"},
		{"ResourceNotFoundException", 400, "", dataCalls + ", UpdateTimeToLive", comment.Unavailable, once, false, "no table: waiting makes none"},
		{"InternalServerError", 500, "", reads, comment.Unavailable, again, false, "a fault of DynamoDB's"},
		{"InternalServerError", 500, "", singleWrites + ", " + transactions, comment.Unavailable, again, true, "a fault of DynamoDB's, perhaps after it wrote"},
		{"InternalServerError", 500, `,"message":"commit failed (backend: database or disk is full)"`, singleWrites + ", " + transactions, comment.Unavailable, again, false, "a local engine's disk is full: nothing was written"},
		{"InternalServerError", 500, "", tableCalls, comment.Unavailable, again, false, "a fault of DynamoDB's"},
		{"InternalFailure", 500, "", reads, comment.Unavailable, again, false, "the same by its common name"},
		{"ServiceUnavailable", 503, "", singleWrites, comment.Unavailable, again, true, "DynamoDB is down, or a part of it"},
		{"", 502, "", reads, comment.Unavailable, again, false, "a load balancer without an error code"},
		{"", 504, "", singleWrites + ", " + transactions, comment.Unavailable, again, true, "a load balancer without an error code: DynamoDB may have written"},
		{"RequestTimeoutException", 408, "", singleWrites, comment.Unavailable, again, true, "the request did not arrive in time, but may have been executed"},
		{"ExpiredTokenException", 400, "", singleWrites + ", " + transactions, comment.Unavailable, again, false, "the credentials of a role: the next try has new ones"},
		{"ExpiredTokenException", 400, "", reads, comment.Unavailable, once, false, "the same: the caller may try again"},
		{"AccessDeniedException", 400, "", allCalls, comment.Internal, once, false, "the role lacks a permission, or the key of KMS: for the log"},
		{"UnrecognizedClientException", 400, "", allCalls, comment.Internal, once, false, "wrong credentials: for the log"},
		{"InvalidSignatureException", 403, "", singleWrites, comment.Internal, once, false, "a wrong secret: for the log"},
		{"MissingAuthenticationTokenException", 403, "", reads, comment.Internal, once, false, "no credentials: for the log"},
		{"IncompleteSignatureException", 400, "", reads, comment.Internal, once, false, "a proxy spoils the header: for the log"},
		{"KMSAccessDeniedException", 400, "", dataCalls, comment.Internal, once, false, "the role may not use the table's KMS key: for the log"},
		{"ValidationException", 400, "", allCalls, comment.Internal, once, false, "an invalid request: a fault of ours"},
		{"SerializationException", 400, "", allCalls, comment.Internal, once, false, "the same"},
		{"TransactionCanceledException", 400, reasons("None", "TransactionConflict"), transactions, comment.Throttled, again, false, "another transaction, or a single write, is at work on an item"},
		{"TransactionCanceledException", 400, reasons("ThrottlingError", "None"), transactions, comment.Throttled, again, false, "the table is at its limit"},
		{"TransactionCanceledException", 400, reasons("ProvisionedThroughputExceeded"), transactions, comment.Throttled, again, false, "the same by its other name"},
		{"TransactionCanceledException", 400, reasons("None", "TransactionConflict"), "TransactWriteItems of counts", comment.Throttled, once, false, "the counter reads what is there, and decides anew"},
		{"TransactionCanceledException", 400, reasons("ThrottlingError"), "TransactWriteItems of counts", comment.Throttled, once, false, "the same"},
		{"TransactionCanceledException", 400, reasons("ValidationError", "TransactionConflict"), cancellations, comment.Internal, once, false, "a part is wrong: a fault of ours, whatever else"},
		{"TransactionCanceledException", 400, reasons("ItemCollectionSizeLimitExceeded"), cancellations, comment.Internal, once, false, "not one of our tables"},
		{"TransactionCanceledException", 400, reasons("ConditionalCheckFailed"), "TransactWriteItems of counts", comment.Throttled, once, false, "others counted: the counter decides anew"},
		{"ConditionalCheckFailedException", 400, "", "PutItem", -1, once, false, "an earlier try of ours put it there"},
		{"ConditionalCheckFailedException", 400, "", "PutItem of an edit, PutItem of a delete", comment.NotFound, once, false, "nothing is there"},
		{"ConditionalCheckFailedException", 400, "", "PutItem of a lease", comment.Conflict, once, false, "another process took it"},
	} {
		for use := range strings.SplitSeq(row.calls, ", ") {
			synctest.Test(t, func(t *testing.T) {
				calls, body := 0, `{"__type":"com.amazonaws.dynamodb.v20120810#`+row.code+`","message":"secret inside"`+row.more+`}`
				if row.code == "" {
					body = ""
				}
				client := call.Over(call.NewLocalClient("http://table"), faulttest.HTTP(func(request *http.Request) (*http.Response, error) {
					calls++
					return faulttest.Answer(request, row.status, body), nil
				}))
				err := uses[use](t.Context(), client, NewStore(client, "t", Options{}))
				told := comment.Kind(-1)
				if err != nil {
					told = comment.KindOf(err)
				}
				lost := strings.Contains(comment.MessageOf(err), "is unknown")
				if told != row.kind || lost != row.lost || strings.Contains(comment.MessageOf(err), "secret") {
					t.Errorf("%s at %s: kind %d, outcome unknown: %v (%v); want kind %d: %s", row.code, use, told, lost, err, row.kind, row.why)
				}
				// A loader repeats its call only after it has read again.
				if repeated := calls > 1; repeated != (row.again && use != "PutItem of a load") {
					t.Errorf("%s at %s: %d calls; want it made again: %v: %s", row.code, use, calls, row.again, row.why)
				}
			})
		}
	}
}

func reasons(codes ...string) string {
	list := make([]string, len(codes))
	for i, code := range codes {
		list[i] = `{"Code":"` + code + `"}`
	}
	return `,"CancellationReasons":[` + strings.Join(list, ",") + `]`
}

// overtaken is a table that loses the answer to the first update, and then has another comment.
type overtaken struct {
	client
	there layout.Item
	calls int
}

func (o *overtaken) UpdateItem(context.Context, *dynamodb.UpdateItemInput, ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error) {
	if o.calls++; o.calls == 1 {
		return nil, &types.InternalServerError{}
	}
	return nil, &types.ConditionalCheckFailedException{Item: o.there}
}

// An edit whose first answer was lost finds another one in its place. If that has the same version,
// the edit never took effect, and is told so. If that is newer, nobody knows.
func TestEditThatWasOvertaken(t *testing.T) {
	before := commenttest.Random(commenttest.Rand(t), "p")
	before.Version = 1
	after := before
	after.Version, after.Text = 2, before.Text+" More."
	for version, conflict := range map[int]bool{2: true, 3: false} {
		synctest.Test(t, func(t *testing.T) {
			now := before
			now.Version = version
			table := &overtaken{there: layout.Encode(now)}
			err := NewStore(table, "t", Options{}).Replace(t.Context(), before, after)
			if (comment.KindOf(err) == comment.Conflict) != conflict || errors.Is(err, call.ErrOvertaken) == conflict || table.calls != 2 {
				t.Errorf("version %d is there: %v after %d calls", version, err, table.calls)
			}
		})
	}
}
