package erasure_test

import (
	"testing"

	"github.com/talkback/talkback/dynamo/erasure"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/dynamo/restore"
	"github.com/talkback/talkback/internal/commenttest/must"
)

// Restoring a copy from before an erasure brings back nothing that the erasure deleted with the
// author's comments.
func TestRestoreAfterErasure(t *testing.T) {
	for _, replace := range []bool{false, true} {
		x := newTable(t)
		x.fill(ada)
		copied := map[restore.Kind][]layout.Item{}
		ofAda := map[string]bool{} // partition keys and IDs of the comments
		for _, it := range x.items() {
			copied[restore.KindOf(it)] = append(copied[restore.KindOf(it)], it)
			if c, err := layout.Decode(it); err == nil && c.Author == ada {
				ofAda[string(c.ID)], ofAda[layout.NewReader(it).Text(layout.AttrPK)] = true, true
			}
		}
		must.Get(x.eraser(x.client).Run(t.Context(), ada, none))(x.t)
		loader := restore.NewLoader(x.client, x.name, 0)
		loader.Replace, loader.Marks = replace, erasure.NewMarks(x.client, x.name)
		for _, kind := range []restore.Kind{restore.Comment, restore.Beside} {
			must.Get(loader.Load(t.Context(), copied[kind]))(x.t)
		}
		if keys := x.traces(ada); len(keys) > 0 {
			t.Errorf("came back: %v", keys)
		}
		for _, it := range x.items() {
			r := layout.NewReader(it)
			if restore.KindOf(it) == restore.Beside && (ofAda[r.Text(layout.AttrPK)] || ofAda[r.OptionalText(layout.AttrFirst)]) {
				t.Errorf("came back: %s/%s", r.Text(layout.AttrPK), r.Text(layout.AttrSK))
			}
		}
	}
}
