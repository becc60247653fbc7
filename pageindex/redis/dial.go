package redis

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"
	"time"

	goredis "github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"

	"github.com/talkback/talkback/comment"
)

// Timeouts unless the URL has others: Redis answers in less than a millisecond, and a list can be
// paged through without it.
const (
	dialTimeout = time.Second
	callTimeout = time.Second
	retries     = 1 // of a call; the keeper of the store retries for longer
)

// clusterParameter in a URL says that the server is one of a cluster.
const clusterParameter = "cluster"

// dial returns the client for a URL, which connects when it is first used, and its name for people.
func dial(target string) (goredis.UniversalClient, serverName, error) {
	u, err := url.Parse(target)
	if err != nil || u.Scheme != "redis" && u.Scheme != "rediss" || u.Host == "" {
		return nil, "", notRedis()
	}
	name := serverName(u.Scheme + "://" + u.Host + u.Path)
	query := u.Query()
	cluster := query.Get(clusterParameter) == "true"
	query.Del(clusterParameter)
	u.RawQuery = query.Encode()
	if cluster {
		client, err := dialCluster(u.String())
		return client, name, err
	}
	client, err := dialOne(u.String())
	return client, name, err
}

// notRedis hides what a parser says, which may quote the password.
func notRedis() error {
	return comment.Errorf(comment.BadInput, "the URL of Redis must be like redis://host:6379/0, or rediss://user:password@host:6379/0 with TLS; a cluster's ends with ?cluster=true")
}

func dialOne(target string) (goredis.UniversalClient, error) {
	options, err := goredis.ParseURL(target)
	if err != nil {
		return nil, notRedis()
	}
	bound(&options.DialTimeout, &options.MaxRetries, &options.ReadTimeout, &options.WriteTimeout, &options.PoolTimeout)
	options.DialerRetries = 1
	options.ContextTimeoutEnabled, options.DisableIdentity = true, true
	options.MaintNotificationsConfig = &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}
	return goredis.NewClient(options), nil
}

func dialCluster(target string) (goredis.UniversalClient, error) {
	options, err := goredis.ParseClusterURL(target)
	if err != nil {
		return nil, notRedis()
	}
	bound(&options.DialTimeout, &options.MaxRetries, &options.ReadTimeout, &options.WriteTimeout, &options.PoolTimeout)
	options.DialerRetries = 1
	options.ContextTimeoutEnabled, options.DisableIdentity = true, true
	options.MaintNotificationsConfig = &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}
	return goredis.NewClusterClient(options), nil
}

// bound sets the timeouts and the number of retries that the URL left open.
func bound(dial *time.Duration, tries *int, calls ...*time.Duration) {
	orElse(dial, dialTimeout)
	orElse(tries, retries)
	for _, call := range calls {
		orElse(call, callTimeout)
	}
}

// orElse sets what the URL left open.
func orElse[T comparable](option *T, usual T) {
	var open T
	if *option == open {
		*option = usual
	}
}

func init() { goredis.SetLogger(silent{}) }

// silent is the client's logger: what goes wrong is in the errors that it returns.
type silent struct{}

// Printf prints nothing.
func (silent) Printf(context.Context, string, ...any) {}

// serverName says where the server is, without a password, for people.
type serverName string

// failed gives an error of the client its kind and says where the server is.
func (n serverName) failed(err error) error {
	var known *comment.Error
	var network net.Error
	switch {
	case err == nil, errors.As(err, &known), errors.Is(err, context.Canceled):
		return err
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, goredis.ErrPoolTimeout), errors.As(err, &network) && network.Timeout():
		return &comment.Error{Kind: comment.Timeout, Message: string(n) + " did not answer in time", Cause: err}
	}
	return &comment.Error{Kind: comment.Unavailable, Message: fmt.Sprintf("%s cannot be used (%s)", n, reason(err)), Cause: err}
}

// reason returns the first word of what Redis replied, which says what kind of error it is.
func reason(err error) string {
	var reply goredis.Error
	if !errors.As(err, &reply) {
		return "no connection"
	}
	word, _, _ := strings.Cut(reply.Error(), " ")
	return word
}
