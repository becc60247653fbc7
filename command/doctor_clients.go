package command

import (
	"context"
	"net"
	"time"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/internal/doctor"
	"github.com/talkback/talkback/quota"
)

// examine checks what bounds clients, and the Redis that they are counted in, if one is named.
func (f *ClientFlags) examine(ctx context.Context, address net.Addr, table string) doctor.Finding {
	const check = "client limits"
	reads, writes := f.policies(address)
	limited := reads.Rate > 0 || writes.Rate > 0
	switch {
	case limited && f.Redis != "":
		return f.examineRedis(ctx, table)
	case limited:
		return doctor.New(check, doctor.OK, "%s", inWords(reads, writes))
	case f.Redis != "":
		return doctor.New(check, doctor.Warning, "none, so --client-limits-redis is not used").
			Cured("give --client-read-units or --client-writes, or leave --client-limits-redis out")
	}
	return doctor.New(check, doctor.OK, "none")
}

// examineTimeout bounds how long the Redis of client limits may take to be reached.
const examineTimeout = 5 * time.Second

func (f *ClientFlags) examineRedis(ctx context.Context, table string) doctor.Finding {
	const check = "client limits"
	store, err := quota.OpenRedis(f.Redis, table)
	if err != nil {
		return doctor.New(check, doctor.Problem, "--client-limits-redis: %s", comment.MessageOf(err))
	}
	defer func() { _ = store.Close() }() // nothing is left to be sent
	ctx, cancel := context.WithTimeout(ctx, examineTimeout)
	defer cancel()
	version, took, err := store.Examine(ctx)
	switch {
	case err != nil:
		return doctor.New(check, doctor.Warning, "%s: each server limits clients by itself", comment.MessageOf(err)).
			Cured("see to Redis, the network and the URL; what its user must be allowed is in docs/operate/limits.md")
	case took > quota.Patience:
		return doctor.New(check, doctor.Warning, "%s took %v to answer; servers wait %v and then limit clients by themselves", store.Name(), took.Round(time.Millisecond), quota.Patience).
			Cured("use a Redis that is nearer or less busy")
	case version != "":
		return doctor.New(check, doctor.OK, "%s, Redis %s, counts them", store.Name(), version)
	}
	return doctor.New(check, doctor.OK, "%s counts them", store.Name())
}
