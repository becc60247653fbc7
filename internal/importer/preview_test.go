package importer

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/internal/commenttest"
	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/internal/reviewfile"
)

// A preview counts the states of all rows, or of the first rows of standard input.
func TestPreview(t *testing.T) {
	const file = "id,product,rating,language,text,date,status\n1,cup,5,en,a,2015-08-20,ok\n2,cup,5,de,b,2015-08-20,spam\n3,mug,4,en,c,2015-08-20,hidden\n" +
		"4,cup,4,en,d,2015-08-20,not-yet\n5,cup,9,en,e,2015-08-20,ok\n6,cup,4,en,f,2015-08-20,withdrawn\n6,cup,4,en,again,2015-08-20,withdrawn\n"
	for _, row := range []struct {
		rows     int
		partial  bool
		states   map[comment.Status]int
		repeated int
		bad      int
	}{
		{100, false, map[comment.Status]int{comment.Approved: 1, comment.Rejected: 2, comment.Pending: 1, comment.Withdrawn: 2}, 1, 1},
		{2, true, map[comment.Status]int{comment.Approved: 1, comment.Rejected: 1}, 0, 0},
	} {
		in := must.Get(Open(t.Context(), reviewfile.StandardInput, reviewfile.Options{}, strings.NewReader(file)))(t)
		p, err := in.Peek(t.Context(), row.rows)
		if err != nil || p.Partial != row.partial || p.Repeated != row.repeated || p.Rejected != row.bad || p.Spam != 1 || cmp.Diff(row.states, p.States) != "" {
			t.Errorf("%d rows: %+v, %v", row.rows, p, err)
		}
		if top := p.Products.Top(); top[0].Text != "cup" || len(p.Samples) != p.Rows {
			t.Errorf("%d rows: %v, %d samples", row.rows, top, len(p.Samples))
		}
		total := 0
		for next := (chunk{}); !next.last; {
			next = in.chunk(100)
			total += len(next.comments) + len(next.bad)
		}
		if total != 7 {
			t.Errorf("after a preview of %d rows, %d are imported", row.rows, total)
		}
	}
}

// Product ids that a program made of whole numbers are noticed if all are such, with the line of
// the first.
func TestWholeFloats(t *testing.T) {
	for ids, want := range map[string]bool{"12.0 7.0 12.0": true, "12.0 7": false, "12.5 7.5": false, "1.0.0": false, "": false, "a.0": false, "-1.0": false} {
		file := "product,rating,language,text,date\n,5,en,a,2015-08-20\n"
		for _, id := range strings.Fields(ids) {
			file += id + ",5,en,a,2015-08-20\n"
		}
		p := must.Get(must.Get(Open(t.Context(), reviewfile.StandardInput, reviewfile.Options{}, strings.NewReader(file)))(t).Peek(t.Context(), 10))(t)
		if p.WholeFloats() != want || p.Rows > 0 && p.Line != 3 {
			t.Errorf("%q: %v, line %d", ids, p.WholeFloats(), p.Line)
		}
	}
	p := must.Get(Open(t.Context(), reviewfile.StandardInput, reviewfile.Options{}, strings.NewReader("product,rating,language,text,date\n")))(t).Preview()
	many := []comment.Comment{{ProductID: "cup"}} // so many that the tally of products forgets each
	for i := range maxTallied {
		many = append(many, comment.Comment{ProductID: fmt.Sprint(i, ".0")})
	}
	if p.add(many, nil, 2); p.WholeFloats() || len(p.Products.Top()) > 0 {
		t.Errorf("with %q among many: %v, %v", many[0].ProductID, p.WholeFloats(), p.Products.Top())
	}
}

// There is no preview of a file that cannot be imported as a whole.
func TestPreviewOfAddresses(t *testing.T) {
	in := must.Get(Open(t.Context(), reviewfile.StandardInput, reviewfile.Options{}, strings.NewReader("product,rating,language,text,date,author\ncup,5,en,a,2015-08-20,ada@example.com\n")))(t)
	if p, err := in.Peek(t.Context(), 10); p != nil || !errors.Is(err, reviewfile.ErrAddress) {
		t.Errorf("%+v, %v, want ErrAddress", p, err)
	}
}

// A tally stays bounded and keeps frequent texts, whenever they come. Its counts are never too
// high.
func TestTally(t *testing.T) {
	var texts []string
	for i := range 2 * maxTallied {
		texts = append(texts, fmt.Sprint("rare", i))
	}
	const frequent = 3000
	for range frequent {
		texts = append(texts, "frequent")
	}
	rand.New(rand.NewPCG(3, 4)).Shuffle(len(texts), func(i, j int) { texts[i], texts[j] = texts[j], texts[i] })
	var tally Tally
	for _, text := range texts {
		tally.add(text)
	}
	top := tally.Top()
	least := frequent - len(texts)/(maxTallied+1)
	if !tally.Lossy || tally.Len() > maxTallied || top[0].Text != "frequent" || top[0].Count > frequent || top[0].Count < least {
		t.Errorf("%d texts, at the top %v", tally.Len(), top[0])
	}
}

// What is tallied keeps nothing else of its row in memory: a file has 50,000 products, or more.
func TestTallyKeepsNoRows(t *testing.T) {
	const rows, size = 32, 1 << 20
	var tally Tally
	before := commenttest.Heap()
	for i := range rows {
		tally.add(strings.Repeat(fmt.Sprint(i, " "), size)[:3])
	}
	if grown := commenttest.Heap() - before; tally.Len() != rows || grown > rows*size/4 {
		t.Errorf("%d texts keep %d bytes in memory", tally.Len(), grown)
	}
}
