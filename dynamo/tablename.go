package dynamo

import (
	"context"
	"fmt"
	"regexp"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/talkback/talkback/dynamo/layout"
)

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
	// Table is the name that was looked for.
	Table string
	// Existing are names of existing tables, nil if unknown.
	Existing []string
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
	return fmt.Sprintf("table %q does not exist%s: name another by --table; talkback serve and talkback import make it with --create-table", e.Table, there)
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
