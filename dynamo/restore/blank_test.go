package restore

import (
	"bytes"
	"compress/gzip"
	"strings"
	"testing"

	"github.com/talkback/talkback/dynamo/layout"
)

// A data file that goes on with blank lines, as a small compressed one can, is given up.
func TestBlankLines(t *testing.T) {
	const item = `{"Item":{"PK":{"S":"a"}}}` + "\n"
	for _, row := range []struct {
		why, text string
		whole     bool
	}{
		{"some blank lines", item + strings.Repeat("\n", longestLine-1) + item + strings.Repeat("\n", longestLine-1), true},
		{"only line ends", item + strings.Repeat("\n", 2*longestLine), false},
		{"only lines of spaces", item + strings.Repeat(strings.Repeat(" ", 1023)+"\n", longestLine/512), false},
	} {
		var stored bytes.Buffer
		zip := gzip.NewWriter(&stored)
		_, _ = zip.Write([]byte(row.text)) // into memory
		_ = zip.Close()
		count, used, err := eachLine(t.Context(), &stored, func(layout.Item) error { return nil })
		if used != nil || (err == nil) != row.whole || row.whole && count != 2 {
			t.Errorf("%s: %d items, %v, %v", row.why, count, used, err)
		}
	}
}

// Blank lines between the lines that name the data files name none.
func TestBlankLinesBetweenFiles(t *testing.T) {
	const line = `{"itemCount":1,"md5Checksum":"m","dataFileS3Key":"AWSDynamoDB/e/data/f.json.gz"}` + "\n"
	if files, err := filesOf([]byte("\n"+line+" \n"+line+"\n"), "e"); len(files) != 2 || err != nil {
		t.Errorf("%v, %v, want two files", files, err)
	}
}
