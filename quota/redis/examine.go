package redis

import (
	"context"
	"crypto/rand"
	"strings"
	"time"

	"github.com/talkback/talkback/quota"
)

// examined is a policy of which a whole burst is used up for a millisecond.
var examined = quota.Policy{Name: "examined", Rate: 1000, Burst: 1}

// Examine does what Change needs to be allowed and able to do, with the account of a client that
// does not exist and that expires after a millisecond. It returns the version of the server, empty
// if that does not tell, and how long a call took, connecting apart.
func (s *Store) Examine(ctx context.Context) (version string, took time.Duration, err error) {
	if err := s.Ping(ctx); err != nil {
		return "", 0, err
	}
	version = versionIn(s.client.Info(ctx, "server").Val()) // some users may not ask
	began := time.Now()
	_, _, err = s.Change(ctx, examined, quota.Customer(rand.Text()), quota.Cost{Time: time.Millisecond, Forced: true})
	return version, time.Since(began), err
}

// versionIn returns the version that an answer to INFO tells.
func versionIn(info string) string {
	_, rest, _ := strings.Cut(info, "redis_version:")
	version, _, _ := strings.Cut(rest, "\r")
	return version
}
