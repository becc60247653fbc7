// Package redisdial makes clients for the Redis server or cluster at a URL, and describes their
// errors without the URL's password.
package redisdial

import (
	"cmp"
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

// Bounds are a client's default timeouts and retries, which its URL can override.
type Bounds struct {
	// Dial bounds connecting, and Call a call. Redis answers in less than a millisecond.
	Dial, Call time.Duration
	// Retries is how often a call is retried, or NoRetries.
	Retries int
}

// NoRetries disables retries.
const NoRetries = -1

// maxLifetime is how long a connection is used. After a failover, the name of the server may belong
// to another one, while connections to the one before still work.
const maxLifetime = 30 * time.Second

// clusterParameter is the URL parameter that says that the server belongs to a cluster.
const clusterParameter = "cluster"

// Dial returns the client for a URL, which connects on first use, and its name for messages. The
// error is of the kind BadInput and does not contain the URL.
func Dial(target string, bounds Bounds) (goredis.UniversalClient, ServerName, error) {
	u, err := url.Parse(target)
	if err != nil || u.Scheme != "redis" && u.Scheme != "rediss" || u.Host == "" || u.Fragment != "" || strings.Contains(u.Path, "@") {
		return nil, "", notRedis() // a "/" or "#" in a password ends the host, and the name would show the rest
	}
	name := ServerName(u.Scheme + "://" + u.Host + u.Path)
	query := u.Query()
	cluster := query.Get(clusterParameter) == "true"
	query.Del(clusterParameter)
	call := bounds.Call.String()
	for name, usual := range map[string]string{
		"dial_timeout": bounds.Dial.String(), "read_timeout": call, "write_timeout": call, "pool_timeout": call,
		"conn_max_lifetime": maxLifetime.String(),
	} {
		if query.Get(name) == "" {
			query.Set(name, usual)
		}
	}
	u.RawQuery = query.Encode()
	if cluster {
		options, err := goredis.ParseClusterURL(u.String())
		if err != nil {
			return nil, "", notRedis()
		}
		options.MaxRetries, options.DialerRetries = cmp.Or(options.MaxRetries, bounds.Retries), 1
		options.ContextTimeoutEnabled, options.DisableIdentity = true, true
		options.MaintNotificationsConfig = &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}
		return goredis.NewClusterClient(options), name, nil
	}
	options, err := goredis.ParseURL(u.String())
	if err != nil {
		return nil, "", notRedis()
	}
	options.MaxRetries, options.DialerRetries = cmp.Or(options.MaxRetries, bounds.Retries), 1
	options.ContextTimeoutEnabled, options.DisableIdentity = true, true
	options.MaintNotificationsConfig = &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}
	return goredis.NewClient(options), name, nil
}

// notRedis replaces errors of a parser, which may quote the password.
func notRedis() error {
	return comment.Errorf(comment.BadInput, "the URL of Redis must be like redis://host:6379/0, or rediss://user:password@host:6379/0 with TLS; a cluster's ends with ?cluster=true")
}

func init() { goredis.SetLogger(silent{}) }

// silent is the client's logger. It logs nothing: errors are returned anyway.
type silent struct{}

// Printf prints nothing.
func (silent) Printf(context.Context, string, ...any) {}

// ServerName is the address of the server, without a password, for messages.
type ServerName string

// Failed adds the server and a kind to an error of the client.
func (n ServerName) Failed(err error) error {
	var network net.Error
	switch {
	case err == nil, errors.As(err, new(*comment.Error)), errors.Is(err, context.Canceled):
		return err
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, goredis.ErrPoolTimeout), errors.As(err, &network) && network.Timeout():
		return &comment.Error{Kind: comment.Timeout, Message: string(n) + " did not answer in time", Cause: err}
	}
	reason := "no connection"
	if reply, ok := errors.AsType[goredis.Error](err); ok {
		reason, _, _ = strings.Cut(reply.Error(), " ") // the first word is the kind of error
	}
	return &comment.Error{Kind: comment.Unavailable, Message: fmt.Sprintf("%s cannot be used (%s)", n, reason), Cause: withoutArguments{err}}
}

// withoutArguments is an error without the arguments of an unknown command, which Redis repeats.
// Those of AUTH include the password.
type withoutArguments struct{ error }

// Error implements error.
func (e withoutArguments) Error() string {
	text, _, _ := strings.Cut(e.error.Error(), ", with args beginning with")
	return text
}

// Unwrap returns the whole error.
func (e withoutArguments) Unwrap() error { return e.error }
