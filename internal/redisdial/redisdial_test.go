package redisdial

import (
	"strings"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"
)

// What the URL does not set has the usual bounds, with a server and with a cluster.
func TestBounds(t *testing.T) {
	for _, cluster := range []string{"", "&cluster=true"} {
		client, _, err := Dial("redis://localhost:1?read_timeout=5s"+cluster, Bounds{Dial: 2 * time.Second, Call: 3 * time.Second, Retries: 7})
		if err != nil {
			t.Fatal(err)
		}
		defer client.Close()
		var dial, read, write, pool, lifetime time.Duration
		var retries int
		switch c := client.(type) {
		case *goredis.Client:
			o := c.Options()
			dial, read, write, pool, lifetime, retries = o.DialTimeout, o.ReadTimeout, o.WriteTimeout, o.PoolTimeout, o.ConnMaxLifetime, o.MaxRetries
		case *goredis.ClusterClient:
			o := c.Options()
			dial, read, write, pool, lifetime, retries = o.DialTimeout, o.ReadTimeout, o.WriteTimeout, o.PoolTimeout, o.ConnMaxLifetime, o.MaxRetries
		}
		if dial != 2*time.Second || read != 5*time.Second || write != 3*time.Second || pool != 3*time.Second || lifetime != maxLifetime || retries != 7 {
			t.Errorf("%s: %v %v %v %v %v %d", cluster, dial, read, write, pool, lifetime, retries)
		}
	}
}

// A password with a slash or a number sign is refused, also for a cluster, which ignores the path:
// the name would show what is behind the sign.
func TestPasswordIsNotInTheName(t *testing.T) {
	for _, url := range []string{"redis://:12/secret@localhost:1", "redis://user:12/secret@localhost:1/0", "redis://:12#secret@localhost:1", "redis://:12?secret@localhost:1"} {
		for _, cluster := range []string{"", "?cluster=true", "&cluster=true"} {
			_, name, err := Dial(url+cluster, Bounds{})
			if err == nil || strings.Contains(string(name)+err.Error(), "secret") {
				t.Errorf("%s: name %q, error %v", url+cluster, name, err)
			}
		}
	}
}
