package importer

import (
	"context"
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/call"
	"github.com/talkback/talkback/dynamo/layout"
)

// MaxName bounds the name of an import, in bytes.
const MaxName = 255

// The item of an import has its name in the sort key. One more item has the latest number.
const (
	partition   = "IMPORTS"
	namePrefix  = "N#"
	numbers     = "NUMBERS"
	attrNumber  = "n" // N
	attrBegun   = "b" // N, milliseconds since 1970
	attrEnded   = "e" // N, absent while the import runs, or if it was killed
	attrWritten = "w" // N
	attrUpdated = "u" // N
	attrUndone  = "d" // N, when it was undone; absent if it was not, or ran again since
)

// Listed is an import of the list.
type Listed struct {
	// Name is a name given by the operator, or the name of the file.
	Name string
	// Begun is when it last began. Ended is when it ended; zero if it still runs, or was killed.
	Begun, Ended time.Time
	// Written is how many comments it added, and Updated how many it changed, in all runs since it
	// was last undone. If it was killed, they lack writes after its last Note.
	Written, Updated int
	// Undone is when it was undone; zero if it was not.
	Undone time.Time
	// Number identifies the import in the marks of its comments.
	Number int64
}

// Client is the part of the SDK's client that a Registry works with.
type Client interface {
	call.Querier
	dynamodb.ScanAPIClient
	call.ItemGetter
	call.Putter
	call.Updater
}

// Registry reads and writes the list of imports of a table. It is safe for concurrent use.
type Registry struct {
	client Client
	table  string
}

// NewRegistry returns the Registry of a table, which must be as layout.Definition says.
func NewRegistry(client Client, table string) *Registry {
	return &Registry{call.For(client, call.ForMaintenance), table}
}

// CheckName returns an error if no import can have this name.
func CheckName(name string) error {
	if name == "" || len(name) > MaxName || !utf8.ValidString(name) {
		return comment.Errorf(comment.BadInput, "the name of an import is UTF-8 of 1 to %d bytes", MaxName)
	}
	for _, r := range name {
		if !unicode.IsGraphic(r) {
			return comment.Errorf(comment.BadInput, "the name of an import has the character %U: leave it out", r)
		}
	}
	return nil
}

// Begin notes that an import begins. If there was one of the same name, its number is kept, so that
// both runs are undone together. Begin, Note and End change nothing if they arrive after a later
// one: each depends on when the import began.
func (r *Registry) Begin(ctx context.Context, name string) (Listed, error) {
	now := layout.Time(time.Now())
	for {
		found, err := r.get(ctx, name)
		if err == nil && found.Number == 0 {
			found.Number, err = r.count(ctx, 1) // a new number; if the answer is lost, it stays unused
		}
		if err != nil || layout.Time(found.Begun).Value == now.Value { // by an earlier try
			return found, err
		}
		removed := attrEnded + ", " + attrUndone
		if !found.Undone.IsZero() {
			removed += ", " + attrWritten + ", " + attrUpdated // nothing is left of what it wrote
		}
		condition, values := layout.IfAbsent, layout.Item{":now": now, ":number": layout.Number(found.Number)}
		if !found.Begun.IsZero() {
			condition, values[":begun"] = sameRun, layout.Time(found.Begun)
		}
		it, err := r.updateIf(ctx, namePrefix+name, "SET "+attrBegun+" = :now, "+attrNumber+" = :number REMOVE "+removed, condition, values)
		switch {
		case err == nil:
			return importOf(it)
		case !call.Refused(err): // else another process began an import of this name at the same time
			return found, err
		}
	}
}

// sameRun is the condition that an import did not begin again.
const sameRun = attrBegun + " = :begun"

// Note notes how much an import has written so far; m is the result of Begin.
func (r *Registry) Note(ctx context.Context, m Listed, written, updated int) error {
	return r.note(ctx, m, "SET "+wrote, sameRun+" AND attribute_not_exists("+attrEnded+")", m.values(written, updated))
}

// End notes that an import ended, and how much it wrote; m is the result of Begin.
func (r *Registry) End(ctx context.Context, m Listed, written, updated int) error {
	values := m.values(written, updated)
	values[":now"] = layout.Time(time.Now())
	return r.note(ctx, m, "SET "+attrEnded+" = :now, "+wrote, sameRun, values)
}

// note changes the item of an import, unless that has begun again.
func (r *Registry) note(ctx context.Context, m Listed, expression, condition string, values layout.Item) error {
	values[":begun"] = layout.Time(m.Begun)
	_, err := r.updateIf(ctx, namePrefix+m.Name, expression, condition, values)
	_, err = call.Done(err)
	return err
}

// wrote is the part of an update expression with the numbers of writes.
const wrote = attrWritten + " = :written, " + attrUpdated + " = :updated"

// values returns the values of wrote; written and updated are those of this run.
func (m Listed) values(written, updated int) layout.Item {
	return layout.Item{":written": layout.Number(int64(m.Written + written)), ":updated": layout.Number(int64(m.Updated + updated))}
}

// List returns all imports in the order of their names, and malformed items.
func (r *Registry) List(ctx context.Context) (all []Listed, damaged []layout.Improper, err error) {
	for it, err := range call.Items(ctx, r.client, call.PartitionInput(r.table, layout.Text(partition), namePrefix), "imports") {
		if err != nil {
			return nil, nil, err
		}
		m, wrong := decode(it)
		if wrong != "" {
			damaged = append(damaged, layout.NewImproper(it, wrong))
			continue
		}
		all = append(all, m)
	}
	return all, damaged, nil
}

// get returns the import with a name. If there is none, its number is 0.
func (r *Registry) get(ctx context.Context, name string) (Listed, error) {
	it, err := call.Retried(ctx, func() (layout.Item, error) {
		return call.Item(ctx, r.client, r.table, layout.Key(partition, namePrefix+name), "GetItem of import %q", name)
	})
	if err != nil || len(it) == 0 {
		return Listed{Name: name}, err
	}
	return importOf(it)
}

// MakeRoom makes later imports take numbers above those in a copy that is restored; copied has the
// items of the copy's imports. It returns an error if an import of this table has a number that the
// copy may use. Undoing one would remove comments of the other.
func (r *Registry) MakeRoom(ctx context.Context, copied []layout.Item) error {
	numberOf, latest := map[string]int64{}, int64(0)
	for _, it := range copied {
		reader := layout.NewReader(it)
		number := reader.OptionalNumber(attrNumber)
		numberOf[reader.Text(layout.AttrSK)], latest = number, max(latest, number)
	}
	if latest == 0 {
		return nil
	}
	all, damaged, err := r.List(ctx)
	switch {
	case err != nil:
		return err
	case len(damaged) > 0: // its number may be in the copy too
		return unusable(damaged[0])
	}
	for _, m := range all {
		if m.Number <= latest && numberOf[namePrefix+m.Name] != m.Number {
			return comment.Errorf(comment.Conflict, "the table has an import %q, which --undo could not tell from one of the copy: restore into a new table, or make this one what the copy is, by --replace", m.Name)
		}
	}
	now, err := r.count(ctx, 0)
	if err == nil && now < latest {
		_, err = r.count(ctx, latest-now)
	}
	return err
}

// count adds more to the latest number, and returns the result.
func (r *Registry) count(ctx context.Context, more int64) (latest int64, err error) {
	it, err := r.updateIf(ctx, numbers, "ADD "+attrNumber+" :more", layout.IfAbsent+" OR attribute_exists("+attrNumber+")", layout.Item{":more": layout.Number(more)})
	if err != nil {
		return 0, err
	}
	reader := layout.NewReader(it)
	return reader.Number(attrNumber), reader.Err()
}

// updateIf changes an item on a condition, and returns the new item. The change may be made twice.
func (r *Registry) updateIf(ctx context.Context, sort, expression, condition string, values layout.Item) (layout.Item, error) {
	output, err := call.Retried(ctx, func() (*dynamodb.UpdateItemOutput, error) {
		output, err := r.client.UpdateItem(ctx, &dynamodb.UpdateItemInput{
			TableName: aws.String(r.table), Key: layout.Key(partition, sort),
			UpdateExpression: aws.String(expression), ExpressionAttributeValues: values, ReturnValues: types.ReturnValueAllNew,
			ConditionExpression: aws.String(condition),
		}, call.NoRetries)
		return output, call.Wrap(err, "UpdateItem %s/%s", partition, sort)
	})
	if err != nil {
		return nil, err
	}
	return output.Attributes, nil
}

// importOf decodes an import. The error for a malformed one names its item and the cure.
func importOf(it layout.Item) (Listed, error) {
	m, wrong := decode(it)
	if wrong != "" {
		return m, unusable(layout.NewImproper(it, wrong))
	}
	return m, nil
}

func unusable(item layout.Improper) error {
	return fmt.Errorf("%v: repair the item of this import; if you delete it, the import cannot be taken back", item)
}

// decode decodes an import. wrong describes what is wrong with its item; "" if nothing is.
func decode(it layout.Item) (m Listed, wrong string) {
	r := layout.NewReader(it)
	m = Listed{
		Name: r.Text(layout.AttrSK), Number: r.Number(attrNumber), Begun: r.Time(attrBegun), Ended: r.OptionalTime(attrEnded),
		Written: int(r.OptionalNumber(attrWritten)), Updated: int(r.OptionalNumber(attrUpdated)), Undone: r.OptionalTime(attrUndone),
	}
	m.Name = strings.TrimPrefix(m.Name, namePrefix)
	switch {
	case r.Err() != nil:
		wrong = r.Err().Error()
	case m.Name == "":
		wrong = "it has no name"
	case m.Number < 1 || m.Written < 0 || m.Updated < 0:
		wrong = "its number or a count is below what it can be"
	}
	return m, wrong
}
