package counts

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/stream"
)

// mostItemBytes is the largest item that DynamoDB accepts.
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Constraints.html
const mostItemBytes = 400 << 10

// Whatever is counted, in however many calls, no item is larger than DynamoDB accepts.
func TestLargestItems(t *testing.T) {
	longest := strings.Repeat("x", comment.MaxIDBytes)
	stats, counted := comment.Stats{}, &layout.Bounds{}
	add := func(language comment.Language) {
		for rating := 1; rating <= comment.MaxRating; rating++ {
			for traits := range comment.Traits(1 << len(comment.AllTraits())) {
				cell := comment.Cell{Language: language, Rating: rating, Traits: traits}
				counted.Enter(cell, 0, comment.MaxPosition)
				stats.Add(cell, 1_999_999_999)
			}
		}
	}
	for i := range comment.MaxLanguageRows {
		add(comment.Language(fmt.Sprintf("%.35s", fmt.Sprintf("%03d%s", i, longest))))
	}
	add(comment.OtherLanguages)
	statistics := statistics{stats: stats, changes: 1 << 62, hold: hold{owner: longest, until: time.Now()}, newest: counted, head: make([]byte, maxIndexBytes)}

	progress := rebuildProgress{stream: stream.State{Label: "2026-01-01T00:00:00.000", Gap: &stream.Gap{Found: time.Now(), Shard: longest, Reason: longest}}}
	rebuild := &rebuilding{Rebuilder: NewRebuilder(nil, "t", RebuildOptions{Calls: 1 << 20})}
	progress.segments = make([]segmentProgress, rebuild.segments())
	for i := range progress.segments {
		progress.segments[i].start = layout.ProductKey(longest, languageSK+longest[:35])
	}
	for name, it := range map[string]layout.Item{"statistics": statisticsItem(longest, statistics, MaxLeaderShards), "rebuild": progress.attributes()} {
		if size := layout.SizeOf(it, slices.Collect(maps.Keys(it))); size > mostItemBytes-1000 {
			t.Errorf("the item of %s has %d bytes", name, size)
		}
	}
}
