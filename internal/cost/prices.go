package cost

import (
	"fmt"
	"math"
	"reflect"
	"regexp"
	"strings"
)

// Region and PricesOf are the region and the date of the default prices. On 1 November 2024, the
// prices of on-demand reads and writes were halved.
//
//	https://aws.amazon.com/dynamodb/pricing/on-demand/
//	https://aws.amazon.com/dynamodb/pricing/provisioned/
//	https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/CostOptimization_StreamsUsage.html
//	https://aws.amazon.com/lambda/pricing/
const (
	Region   = "us-east-1"
	PricesOf = "2026-11-26"
)

// Prices are in dollars. The tags define flags.
type Prices struct {
	Reads            float64 `help:"Dollars for a million read units on demand (default: ${default})." default:"0.125" placeholder:"0.125"`
	Writes           float64 `help:"Dollars for a million write units on demand (default: ${default})." default:"0.625" placeholder:"0.625"`
	ReadCapacity     float64 `help:"Dollars for a provisioned read unit and hour (default: ${default})." default:"0.00013" placeholder:"0.00013"`
	WriteCapacity    float64 `help:"Dollars for a provisioned write unit and hour (default: ${default})." default:"0.00065" placeholder:"0.00065"`
	Storage          float64 `help:"Dollars for a GB of the table and its indexes and month (default: ${default})." default:"0.25" placeholder:"0.25"`
	Backup           float64 `help:"Dollars for a GB of point-in-time recovery and month (default: ${default})." default:"0.20" placeholder:"0.20"`
	StreamReads      float64 `help:"Dollars for a million reads of the stream, beyond the free ones (default: ${default})." default:"0.20" placeholder:"0.20"`
	FunctionRequests float64 `help:"Dollars for a million invocations of a function (default: ${default})." default:"0.20" placeholder:"0.20"`
	FunctionTime     float64 `help:"Dollars for a million GB-seconds of a function on arm64 (default: ${default})." default:"13.3334" placeholder:"13.3334"`
	Transfer         float64 `help:"Dollars for a GB that leaves AWS, beyond the free ones (default: ${default})." default:"0.09" placeholder:"0.09"`
}

// The free quantities of each month.
const (
	freeStreamReads = 2.5e6 // https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/CostOptimization_StreamsUsage.html
	freeTransferGB  = 100   // https://aws.amazon.com/ec2/pricing/on-demand/
)

// Check returns an error that names the flag of an invalid price.
func (p Prices) Check() error {
	value := reflect.ValueOf(p)
	for i := range value.NumField() {
		if n := value.Field(i).Float(); math.IsNaN(n) || n < 0 || n > maxNumber {
			return fmt.Errorf("--price-%s %v is not a price: give dollars from 0 on, such as %s",
				strings.ToLower(wordEnd.ReplaceAllString(value.Type().Field(i).Name, "$1-$2")), n, value.Type().Field(i).Tag.Get("default"))
		}
	}
	return nil
}

// wordEnd matches where a flag's name gets a hyphen: ReadCapacity is read-capacity.
var wordEnd = regexp.MustCompile(`([a-z])([A-Z])`)
