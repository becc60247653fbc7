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

// tableName is what DynamoDB takes for the name of a table.
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/HowItWorks.NamingRulesDataTypes.html
var tableName = regexp.MustCompile(`^[a-zA-Z0-9_.-]{3,255}$`)

// CheckTableName refuses what cannot name a table. An ARN, by which AWS knows tables of other accounts, passes.
func CheckTableName(name string) error {
	if tableName.MatchString(name) || strings.HasPrefix(name, "arn:") {
		return nil
	}
	return fmt.Errorf("%q cannot be the name of a table: give 3 to 255 letters, digits, underscores, hyphens and dots, such as %s", name, layout.DefaultTable)
}

// MissingTableError says that no table has the name.
type MissingTableError struct {
	// Table is the name.
	Table string
	// Existing are names of tables that are there; nil when that is not known.
	Existing []string
}

// Error names the cures.
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

// maxTableNames bounds how many names TableNames gives.
const maxTableNames = 10

// TableNames are names of the tables that there are, at most a few; nil when the engine does not say.
func TableNames(ctx context.Context, client dynamodb.ListTablesAPIClient) []string {
	output, err := client.ListTables(ctx, &dynamodb.ListTablesInput{Limit: aws.Int32(maxTableNames)})
	if err != nil {
		return nil // as a rule those who may read a table may not list tables on AWS
	}
	return append([]string{}, output.TableNames...)
}
