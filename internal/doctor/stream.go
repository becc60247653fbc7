package doctor

import "context"

// Stream checks that the role may read the latest stream of the table. It keeps no place in it.
func (e Examiner) Stream(ctx context.Context) []Finding {
	listing, err := e.Source.Shards(ctx)
	if err != nil {
		return []Finding{e.refused("DescribeStream", Problem, err)}
	}
	all := []Finding{permitted("DescribeStream")}
	if len(listing.Shards) == 0 {
		return append(all, New("stream", Unknown, "has no shard yet, so reading was not tried"))
	}
	iterator, err := e.Source.Open(ctx, listing.Label, listing.Shards[len(listing.Shards)-1].ID, "")
	if err != nil {
		return append(all, e.refused("GetShardIterator", Problem, err))
	}
	all = append(all, permitted("GetShardIterator"))
	if _, err := e.Source.Read(ctx, listing.Label, iterator); err != nil {
		return append(all, e.refused("GetRecords", Problem, err))
	}
	return append(all, permitted("GetRecords"))
}
