package dynamo

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/call"
	"github.com/talkback/talkback/dynamo/layout"
)

// setupTimeout bounds how long CreateTable waits for a new table to become active.
const setupTimeout = 5 * time.Minute

// manager is the part of the SDK's client that creates tables, and reads and changes their
// settings.
type manager interface {
	dynamodb.DescribeTableAPIClient
	CreateTable(context.Context, *dynamodb.CreateTableInput, ...func(*dynamodb.Options)) (*dynamodb.CreateTableOutput, error)
	DescribeTimeToLive(context.Context, *dynamodb.DescribeTimeToLiveInput, ...func(*dynamodb.Options)) (*dynamodb.DescribeTimeToLiveOutput, error)
	UpdateTimeToLive(context.Context, *dynamodb.UpdateTimeToLiveInput, ...func(*dynamodb.Options)) (*dynamodb.UpdateTimeToLiveOutput, error)
	call.ItemGetter
	PutItem(context.Context, *dynamodb.PutItemInput, ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error)
}

// CheckTable returns an error if the table cannot be used: it is missing, cannot be reached, or
// differs from layout.Definition.
func CheckTable(ctx context.Context, client dynamodb.DescribeTableAPIClient, table string) error {
	var output *dynamodb.DescribeTableOutput
	var wrapped error
	err := call.Retry(ctx, func() (progress bool, err error) {
		output, err = client.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: aws.String(table)})
		if wrapped = call.Wrap(err, "DescribeTable %s", table); comment.KindOf(wrapped) == comment.Throttled {
			return false, wrapped // many processes may start together
		}
		return false, nil // an unreachable table is reported at once
	})
	switch {
	case errors.As(wrapped, new(*types.ResourceNotFoundException)):
		return &MissingTableError{Table: table}
	case cmp.Or(err, wrapped) != nil:
		return cmp.Or(err, wrapped)
	}
	want := layout.Definition(table)
	differences := compareShape(want, output.Table)
	switch {
	case len(differences) == 0:
		return nil
	case len(differences) == 1 && !hasStream(want, output.Table):
		return uncountedError(fmt.Sprintf("table %q cannot be counted: %s; switch it on (off first, if it has another one): "+
			"aws dynamodb update-table --table-name %s --stream-specification StreamEnabled=true,StreamViewType=%s",
			table, differences[0], table, want.StreamSpecification.StreamViewType))
	case len(differences) == 1 && keyText(output.Table.KeySchema) == keyText(want.KeySchema):
		return fmt.Errorf("table %q is not complete: %s; make that as infra/table.json has it, by aws dynamodb update-table, or name another table by --table",
			table, differences[0])
	}
	return fmt.Errorf("table %q is not a table of Talkback: %s; give another name by --table, or make a new table by --create-table",
		table, strings.Join(differences, "; "))
}

// uncountedError is the error of a table that lacks nothing but its stream.
type uncountedError string

// Error returns the message, which says what to do.
func (e uncountedError) Error() string { return string(e) }

func hasStream(want *dynamodb.CreateTableInput, have *types.TableDescription) bool {
	s := have.StreamSpecification
	return s != nil && aws.ToBool(s.StreamEnabled) && s.StreamViewType == want.StreamSpecification.StreamViewType
}

// CreateTable creates the table and waits until it can be used. If the table exists, it only notes
// the layout version and switches on the deletion of expired items.
func CreateTable(ctx context.Context, client manager, table string) error {
	_, err := client.CreateTable(ctx, layout.Definition(table))
	if err != nil && !errors.As(err, new(*types.ResourceInUseException)) {
		return call.Wrap(err, "CreateTable %s", table)
	}
	waiter := dynamodb.NewTableExistsWaiter(client, func(o *dynamodb.TableExistsWaiterOptions) {
		o.MinDelay, o.MaxDelay = 100*time.Millisecond, 5*time.Second
	})
	if err := waiter.Wait(ctx, &dynamodb.DescribeTableInput{TableName: aws.String(table)}, setupTimeout); err != nil {
		return call.Wrap(err, "waiting for table %s", table)
	}
	if err := NoteLayout(ctx, client, table); err != nil {
		return err
	}
	// The creator of an existing table may have ended before UpdateTimeToLive. Its answer may also
	// have been lost, and DynamoDB refuses a second call.
	return KeepTimeToLive(ctx, client, table)
}

// glance is how many items HasComments scans in one call.
const glance = 100

// HasComments reports whether the table holds any comment. Usually it takes one short read: a table
// with other items, such as statistics, has either comments among them or few items.
func HasComments(ctx context.Context, client dynamodb.ScanAPIClient, table string) (bool, error) {
	input := &dynamodb.ScanInput{
		TableName:                 aws.String(table),
		FilterExpression:          aws.String(scanFilter),
		ExpressionAttributeValues: scanValues,
		ProjectionExpression:      aws.String(layout.AttrPK),
		Limit:                     aws.Int32(glance),
		ConsistentRead:            aws.Bool(true),
	}
	for {
		output, err := client.Scan(ctx, input)
		if err != nil {
			return false, call.Wrap(err, "Scan %s", table)
		}
		if len(output.Items) > 0 || len(output.LastEvaluatedKey) == 0 {
			return len(output.Items) > 0, nil
		}
		input.ExclusiveStartKey = output.LastEvaluatedKey
	}
}

// compareShape lists the differences to the table's definition that reading and counting depend on.
// Additional attributes and indexes do no harm.
func compareShape(want *dynamodb.CreateTableInput, have *types.TableDescription) []string {
	var differences []string
	if got := keyText(have.KeySchema); got != keyText(want.KeySchema) {
		differences = append(differences, fmt.Sprintf("its key is %s instead of %s", got, keyText(want.KeySchema)))
	}
	for _, index := range want.GlobalSecondaryIndexes {
		name := aws.ToString(index.IndexName)
		i := slices.IndexFunc(have.GlobalSecondaryIndexes, func(g types.GlobalSecondaryIndexDescription) bool { return aws.ToString(g.IndexName) == name })
		if i < 0 {
			differences = append(differences, fmt.Sprintf("it has no index %s", name))
			continue
		}
		there := have.GlobalSecondaryIndexes[i]
		if got := keyText(there.KeySchema); got != keyText(index.KeySchema) {
			differences = append(differences, fmt.Sprintf("the key of its index %s is %s instead of %s", name, got, keyText(index.KeySchema)))
			continue
		}
		if there.Projection == nil || there.Projection.ProjectionType == types.ProjectionTypeAll {
			continue
		}
		for _, attr := range index.Projection.NonKeyAttributes {
			if !slices.Contains(there.Projection.NonKeyAttributes, attr) {
				differences = append(differences, fmt.Sprintf("its index %s does not carry attribute %q", name, attr))
				break
			}
		}
	}
	if !hasStream(want, have) {
		differences = append(differences, fmt.Sprintf("it has no stream of %s", want.StreamSpecification.StreamViewType))
	}
	return differences
}

// keyText returns the attribute names of a key schema, the partition key first.
func keyText(schema []types.KeySchemaElement) string {
	names := make([]string, 0, len(schema))
	for _, kind := range []types.KeyType{types.KeyTypeHash, types.KeyTypeRange} {
		for _, element := range schema {
			if element.KeyType == kind {
				names = append(names, aws.ToString(element.AttributeName))
			}
		}
	}
	return strings.Join(names, " + ")
}

// tableName matches the names that DynamoDB allows for tables.
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/HowItWorks.NamingRulesDataTypes.html
var tableName = regexp.MustCompile(`^[a-zA-Z0-9_.-]{3,255}$`)

// CheckTableName returns an error for a name that DynamoDB does not allow. It accepts any ARN,
// which can name a table of another account.
func CheckTableName(name string) error {
	if tableName.MatchString(name) || strings.HasPrefix(name, "arn:") {
		return nil
	}
	return fmt.Errorf("%q cannot be the name of a table: give 3 to 255 letters, digits, underscores, hyphens and dots, such as %s", name, layout.DefaultTable)
}

// MissingTableError is the error of a table that does not exist.
type MissingTableError struct {
	// Table is the name of the missing table.
	Table string
	// Existing has names of existing tables; nil if unknown.
	Existing []string
	// Region is the AWS region of the request, empty for another engine.
	Region string
}

// Error returns the message, which says what to do.
func (e *MissingTableError) Error() string {
	there := ""
	switch {
	case len(e.Existing) > 0:
		there = fmt.Sprintf(" (existing: %s)", strings.Join(e.Existing, ", "))
	case e.Existing != nil:
		there = " (there is none at all)"
	}
	where, another := "", "name another by --table"
	if e.Region != "" {
		where, another = " in "+e.Region, "set AWS_REGION if it is in another region, or name another by --table"
	}
	return fmt.Sprintf("table %q does not exist%s%s: %s; talkback serve and talkback import make it with --create-table", e.Table, where, there, another)
}

// maxTableNames bounds how many names TableNames returns.
const maxTableNames = 10

// TableNames returns names of existing tables, at most maxTableNames. It returns nil if the engine
// refuses to list them.
func TableNames(ctx context.Context, client dynamodb.ListTablesAPIClient) []string {
	output, err := client.ListTables(ctx, &dynamodb.ListTablesInput{Limit: aws.Int32(maxTableNames)})
	if err != nil {
		return nil // on AWS, a role that may read a table usually may not list tables
	}
	return append([]string{}, output.TableNames...)
}

// DynamoDB deletes expired items if the table's time to live is on: idempotency keys, leases, dedup
// markers of deleted comments and dead letters. CreateTable cannot carry that setting. A process
// that ends between the two calls leaves a table that keeps every item, so each start checks the
// setting.

// DropsExpired reports whether the table deletes expired items, or is about to.
func DropsExpired(ctx context.Context, client manager, table string) (bool, error) {
	output, err := client.DescribeTimeToLive(ctx, &dynamodb.DescribeTimeToLiveInput{TableName: aws.String(table)})
	if err != nil {
		return false, call.Wrap(err, "DescribeTimeToLive %s", table)
	}
	now := output.TimeToLiveDescription
	if now == nil || now.TimeToLiveStatus != types.TimeToLiveStatusEnabled && now.TimeToLiveStatus != types.TimeToLiveStatusEnabling {
		return false, nil
	}
	if attr := aws.ToString(now.AttributeName); attr != layout.AttrTTL {
		return false, fmt.Errorf("table %q drops what has expired by the attribute %q and not by %q: run "+
			"aws dynamodb update-time-to-live --table-name %s --time-to-live-specification Enabled=false,AttributeName=%s and, an hour later, restart talkback serve or talkback stream", table, attr, layout.AttrTTL, table, attr)
	}
	return true, nil
}

// KeepTimeToLive switches on the deletion of expired items, unless it is on. It returns an error if
// the setting is unknown or could not be changed. The table can still be used, but expired items
// stay in it.
func KeepTimeToLive(ctx context.Context, client manager, table string) error {
	if on, err := DropsExpired(ctx, client, table); on || err != nil {
		return err
	}
	_, err := client.UpdateTimeToLive(ctx, layout.TimeToLive(table))
	if err == nil {
		return nil
	}
	if on, _ := DropsExpired(ctx, client, table); on { // another process was first
		return nil
	}
	return call.Wrap(err, "UpdateTimeToLive %s", table)
}

// LayoutVersion is the number of the layout that this program reads and writes. The table stores
// the number of its own, so that an earlier release does not take its items for damaged.
const LayoutVersion = 2

const (
	layoutPK    = "SETTINGS"
	layoutSK    = "LAYOUT"
	attrVersion = "v" // N
)

// CheckLayout returns an error if the items of a table have the layout of another release. It
// accepts a table without a layout version, which is new.
func CheckLayout(ctx context.Context, client manager, table string) error {
	it, err := call.Retried(ctx, func() (layout.Item, error) {
		return call.Item(ctx, client, table, layout.Key(layoutPK, layoutSK), "GetItem %s/%s", layoutPK, layoutSK)
	})
	if err != nil || len(it) == 0 {
		return err
	}
	r := layout.NewReader(it)
	switch version := r.Number(attrVersion); {
	case r.Err() != nil:
		return fmt.Errorf("item %s/%s of table %q does not say which layout the table has: set its attribute %q to %d, if Talkback of this release made the table", layoutPK, layoutSK, table, attrVersion, LayoutVersion)
	case version > LayoutVersion:
		return fmt.Errorf("table %q has layout %d, which a newer release made; this one knows layout %d: use the newer release", table, version, LayoutVersion)
	case version < LayoutVersion:
		return fmt.Errorf("table %q has layout %d, which an earlier release made; this one knows layout %d: export its comments with the earlier release, and import them into a new table", table, version, LayoutVersion)
	}
	return nil
}

// NoteLayout stores LayoutVersion in a table, unless the table has a layout version already.
func NoteLayout(ctx context.Context, client manager, table string) error {
	it := layout.Key(layoutPK, layoutSK)
	it[attrVersion] = layout.Number(LayoutVersion)
	_, err := client.PutItem(ctx, &dynamodb.PutItemInput{
		TableName: aws.String(table), Item: it, ConditionExpression: aws.String(layout.IfAbsent),
	})
	if call.Refused(err) {
		return nil
	}
	return call.Wrap(err, "PutItem %s/%s", layoutPK, layoutSK)
}
