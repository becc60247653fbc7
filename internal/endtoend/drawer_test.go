package endtoend

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// plan is the API's record of how it answered.
type plan struct {
	Summary string
	Reads   []struct {
		Index, PartitionKey         string
		Limit, ItemsRead, ItemsKept int
		ReadUnits                   float64
	}
	Candidates []struct {
		Name   string
		Chosen bool
	}
	Waves, ItemsRead, ItemsReturned int
	ReadUnits                       float64
	Position                        struct{ ReadUnits float64 }
}

// The drawer shows the plan of each answer, with every number from the API.
func theDrawer(t *testing.T, browser context.Context, s *site) {
	b := newTab(t, browser)
	b.do(chromedp.Navigate(s.address + "/products/" + many))
	b.mouse(".plan summary")
	b.until(root + `.querySelector('.plan').open && ` + root + `.querySelector('.plan table') !== null`)
	for _, bar := range []string{".bar[href='?rating=2']", ".bar[href='?rating=2&rating=1']", ".order a[href*=oldest]"} {
		before, _ := b.asked()
		b.mouse(bar)
		b.until(idle + fmt.Sprintf(" && performance.getEntriesByName(location.origin + '/graphql').length > %d", before))
		var answer struct {
			Data struct {
				Product struct{ List struct{ Plan plan } }
			}
		}
		b.lastAnswer(&answer)
		want := answer.Data.Product.List.Plan
		b.shows(".plan .sentence", want.Summary)
		if got := eval[string](b, columnsOf(1, 1, 2, 4, 5, 6, 7)); got != want.reads() {
			t.Errorf("after %s the drawer shows the reads\n%s\nwant\n%s", bar, got, want.reads())
		}
		if got := eval[string](b, columnsOf(2, 0)); got != want.candidates() {
			t.Errorf("after %s the drawer shows the candidates\n%s\nwant\n%s", bar, got, want.candidates())
		}
		cost := eval[string](b, root+`.querySelector('.plan .cost').textContent`)
		if want := fmt.Sprintf("%v read unit", want.ReadUnits+want.Position.ReadUnits); !strings.HasPrefix(cost, want) {
			t.Errorf("after %s the drawer costs %q, want %q", bar, cost, want)
		}
	}
	b.quiet()
}

// columnsOf returns the text of some columns of the n-th table of the drawer, without its head.
func columnsOf(n int, columns ...int) string {
	wanted := strings.ReplaceAll(fmt.Sprint(columns), " ", ", ")
	return fmt.Sprintf(`[...[...%s.querySelectorAll('.plan table')][%d].tBodies[0].rows].map((row) => %s.map((i) => row.cells[i].textContent).join('|')).join('\n')`, root, n-1, wanted)
}

// reads returns the rows of reads, without their purpose and their keys.
func (p plan) reads() string {
	var rows []string
	for _, r := range p.Reads {
		rows = append(rows, fmt.Sprintf("%s|%s|%d|%d|%d|%v", r.Index, r.PartitionKey, r.Limit, r.ItemsRead, r.ItemsKept, r.ReadUnits))
	}
	return strings.Join(rows, "\n")
}

func (p plan) candidates() string {
	var rows []string
	for _, c := range p.Candidates {
		if c.Chosen {
			c.Name += " (chosen)"
		}
		rows = append(rows, c.Name)
	}
	return strings.Join(rows, "\n")
}
