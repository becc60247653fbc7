package markers

import (
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo"
	"github.com/talkback/talkback/dynamo/call"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/internal/dynamotest"
	"github.com/talkback/talkback/pageindex"
	"github.com/talkback/talkback/pageindex/conformance"
)

func TestMain(m *testing.M) { dynamotest.Main(m) }

// small sets limits so low that cells of a few dozen comments have several chunks of stamps.
func small(s *Store) *Store {
	s.perStamp, s.perChunk = 5, 3
	return s
}

func newTable(t *testing.T, client *dynamodb.Client) string {
	t.Helper()
	table := dynamotest.TableName(t)
	must.Do(t, dynamo.CreateTable(t.Context(), client, table))
	return table
}

func TestConformance(t *testing.T) {
	client := call.NewLocalClient(dynamotest.Dynoxide(t))
	conformance.Run(t, func(t *testing.T) conformance.Place {
		table := newTable(t, client)
		return conformance.Place{
			Shared: true, Costly: true,
			Open: func(*testing.T) pageindex.Store { return small(Open(client, table)) },
			Held: func(t *testing.T, product string) []string { return held(t, client, table, product) },
		}
	})
}

// TestEachCellHasItsPartition checks that no product's id begins so that two cells share a
// partition.
func TestEachCellHasItsPartition(t *testing.T) {
	of := map[string]string{}
	for _, start := range []string{"", "/", "//", "m/", "/m/", "//m/", "mv/", "vm/", "m/m/", "5/m/", "de/5/m/"} {
		for traits := range comment.Traits(comment.TraitSets) {
			p := generationProduct{generation: "GEN", product: start + "4711"}
			cell := layout.CellText(comment.Cell{Language: "de", Rating: 5, Traits: traits})
			pk, who := p.cellPK(cell), cell+" of "+p.product
			if other, taken := of[pk]; taken {
				t.Errorf("%s and %s are both in %s", who, other, pk)
			}
			of[pk] = who
		}
	}
}

// isOf reports whether a partition has items of a product.
func isOf(pk, product string) bool {
	generation, _, _ := strings.Cut(strings.TrimPrefix(pk, pkPrefix), "#")
	p := generationProduct{generation: generation, product: product}
	cell, found := strings.CutSuffix(strings.TrimPrefix(pk, pkPrefix+generation+"#"), strings.TrimPrefix(p.cellPK(""), pkPrefix+generation+"#"))
	_, err := layout.ParseCell(cell)
	return pk == p.pk() || found && err == nil
}

// held returns the keys of all items about a product, except entries of deleted comments.
func held(t *testing.T, client *dynamodb.Client, table, product string) (out []string) {
	t.Helper()
	for _, in := range dynamotest.Scan(t, client, table) {
		r := layout.NewReader(in)
		pk, sk := r.Text(layout.AttrPK), r.Text(layout.AttrSK)
		if (sk == product || isOf(pk, product)) && in[layout.AttrTTL] == nil {
			out = append(out, pk+" "+sk)
		}
	}
	return out
}
