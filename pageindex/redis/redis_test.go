package redis

import (
	"regexp"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/internal/doctest"
	"github.com/talkback/talkback/internal/redistest"
	"github.com/talkback/talkback/pageindex"
	"github.com/talkback/talkback/pageindex/conformance"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A user with the rights that the guide names can do all that a store does.
func TestConformance(t *testing.T) {
	_, guide, _ := strings.Cut(doctest.Read(t, "docs/operate/page-numbers.md").Text, "\n| Redis | ")
	guide, _, _ = strings.Cut(guide, "\n")
	guide = strings.ReplaceAll(guide, "talkback:comments", "talkback:table.*")
	var rights []string // of any server, then those that a cluster needs as well
	for _, words := range regexp.MustCompile("`([+~][^`]*)`").FindAllStringSubmatch(guide, -1) {
		rights = append(rights, words[1])
	}
	for _, row := range []struct {
		name, parameter  string
		settings, rights []string
	}{
		{name: "Server", rights: rights[:1]},
		{name: "Cluster", parameter: "?cluster=true", settings: []string{"--cluster-enabled", "yes"}, rights: rights},
	} {
		t.Run(row.name, func(t *testing.T) {
			server := redistest.Start(t, row.settings...)
			if row.parameter != "" {
				server.Must(t, "CLUSTER", "ADDSLOTSRANGE", "0", "16383")
				waitForCluster(t, server)
			}
			server.Must(t, "ACL", "SETUSER", "clerk", "on", ">hush", strings.Join(row.rights, " "))
			clerk := strings.Replace(server.URL(), "redis://", "redis://clerk:hush@", 1) + row.parameter
			conformance.Run(t, func(t *testing.T) conformance.Place {
				table := "table." + strings.ReplaceAll(t.Name(), "/", ".")
				return conformance.Place{
					Shared: true,
					Open:   func(t *testing.T) pageindex.Store { return open(t, clerk, table) },
					Held: func(t *testing.T, product string) []string {
						return held(t, server.URL()+row.parameter, table, product)
					},
				}
			})
		})
	}
}

// waitForCluster waits until a cluster of one server accepts commands.
func waitForCluster(t *testing.T, server *redistest.Server) {
	t.Helper()
	for {
		reply := must.Get(server.Do("GET", "x"))(t)
		if !strings.HasPrefix(reply, "-CLUSTERDOWN") {
			return
		}
		if t.Context().Err() != nil {
			t.Fatal(reply)
		}
	}
}

func open(t *testing.T, target, table string) *Store {
	t.Helper()
	return must.Get(Open(t.Context(), target, table))(t)
}

// held returns the keys of a product, except those of deleted comments.
func held(t *testing.T, target, table, product string) (out []string) {
	t.Helper()
	s := open(t, target, table)
	defer s.Close()
	of := s.keys.of(product, "")
	all := must.Get(s.client.Keys(t.Context(), prefix+table+":*").Result())(t)
	for _, key := range all {
		if strings.HasPrefix(key, strings.TrimSuffix(of, ":")) && !strings.Contains(key, ":"+goneName) {
			out = append(out, key)
		}
	}
	return out
}
