package direct

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

// Times are written as the standard library writes them: with and without fractions of a second, in
// any zone, and of any year.
func TestTimesAreThoseOfTheStandardLibrary(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		year := rapid.OneOf(rapid.IntRange(0, 9999), rapid.SampledFrom([]int{-1, 0, 9999, 10000})).Draw(t, "year")
		second := rapid.IntRange(0, 366*24*60*60).Draw(t, "second")
		unit := rapid.SampledFrom([]int{1, 1e3, 1e6, 1e7, 1e8, 1e9}).Draw(t, "unit")
		fraction := rapid.IntRange(0, 1e9-1).Draw(t, "fraction") / unit * unit
		zone := time.FixedZone("", rapid.IntRange(-12*3600, 12*3600).Draw(t, "east"))
		at := time.Date(year, time.January, 1, 0, 0, second, fraction, zone)
		want := `"` + at.UTC().Format(time.RFC3339Nano) + `"`
		if got := string(appendTime(nil, at)); got != want {
			t.Fatalf("%s, want %s", got, want)
		}
	})
}
