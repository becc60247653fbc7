package layout_test

import (
	"strconv"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"pgregory.net/rapid"

	"github.com/talkback/talkback/dynamo/layout"
)

// Numbers are read as strconv reads them, whatever their length, sign and digits.
func TestNumbersAreThoseOfStrconv(t *testing.T) {
	digits := rapid.StringMatching(`[+-]?[0-9]{0,21}`)
	long := rapid.SampledFrom([]string{"9223372036854775807", "9223372036854775808", "99999999999999999999", "-9223372036854775809"})
	usual := rapid.Custom(func(t *rapid.T) string { return strconv.FormatInt(rapid.Int64().Draw(t, "n"), 10) })
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(digits, usual, long, rapid.StringMatching(`[0-9]{0,3}[ -~]?[0-9]{0,3}`)).Draw(t, "text")
		want, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			want = 0
		}
		r := layout.NewReader(layout.Item{"n": &types.AttributeValueMemberN{Value: text}})
		if got := r.Number("n"); got != want || (r.Err() == nil) != (err == nil) {
			t.Errorf("%q is read as %d (%v), want %d (%v)", text, got, r.Err(), want, err)
		}
	})
}
