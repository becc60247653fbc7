package command

import (
	"bytes"
	"strings"
	"testing"

	"github.com/talkback/talkback/dynamo/counts"
	"github.com/talkback/talkback/dynamo/layout"
)

// Items that are not proper comments are printed by their keys. They are an error even if the rest
// succeeds.
func TestImproperItemsAreAnError(t *testing.T) {
	t.Parallel()
	items := []layout.Improper{{Key: "C#1/C", Reason: "it is none"}}
	for _, row := range []struct {
		why   string
		print func(out *bytes.Buffer) error
		says  string
	}{
		{"verify", func(out *bytes.Buffer) error { return printVerified(out, counts.Verified{Improper: items}, 0) }, "1 item "},
		{"rebuild", func(out *bytes.Buffer) error {
			return printRebuilt(out, counts.RebuildResult{Improper: items, Complete: true}, 0)
		}, "1 item "},
		{"rebuild of what cannot be mended", func(out *bytes.Buffer) error {
			return printRebuilt(out, counts.RebuildResult{Improper: items, Failed: []string{"p"}}, 0)
		}, "refused the statistics of 1 product,"},
		{"export", func(out *bytes.Buffer) error { return printLeftOut(out, items) }, "lacks 1 invalid item:"},
	} {
		var out bytes.Buffer
		err := row.print(&out)
		if err == nil || !strings.Contains(err.Error(), row.says) || !strings.Contains(out.String(), "item C#1/C: it is none") {
			t.Errorf("%s: %v\n%s", row.why, err, out.String())
		}
	}
	for _, fine := range []error{
		printVerified(&bytes.Buffer{}, counts.Verified{}, 0),
		printRebuilt(&bytes.Buffer{}, counts.RebuildResult{Complete: true}, 0),
		printLeftOut(&bytes.Buffer{}, nil),
	} {
		if fine != nil {
			t.Error(fine)
		}
	}
}

// A difference that may only await counting is mentioned beside drifts, and nowhere else.
func TestVerifyTellsWhatIsUnproven(t *testing.T) {
	t.Parallel()
	drifts := []counts.Drift{{Product: "vase", Kind: counts.FurtherMarkers}}
	for _, row := range []struct {
		found counts.Verified
		tells bool
	}{
		{counts.Verified{Drifts: drifts, Unproven: true}, true},
		{counts.Verified{Drifts: drifts}, false},
		{counts.Verified{Unproven: true}, false},
	} {
		var out strings.Builder
		_ = printVerified(&out, row.found, 0) // drift is an error
		if strings.Contains(out.String(), "not counted yet") != row.tells {
			t.Errorf("%+v: %s", row.found, &out)
		}
	}
}
