package telemetry

import (
	"fmt"
	"io"
	"net/http"
	"net/http/pprof"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	exporter "go.opentelemetry.io/otel/exporters/prometheus"
	sdk "go.opentelemetry.io/otel/sdk/metric"
)

const (
	// scrapesAtOnce is how many scrapes are answered at a time; others get 503. An answer has some 100
	// KB, and 3 MB with all possible series.
	scrapesAtOnce = 3
	// scrapeTimeout is how long a scraper may take to read its answer.
	scrapeTimeout = 10 * time.Second
	// mostSeconds is how long a profile takes at most.
	mostSeconds = 60
	// AdminWriteTimeout is the longest time for an answer: that of a profile, and some for sending it.
	AdminWriteTimeout = (mostSeconds + 15) * time.Second
	// AdminConnections is how many connections are open at a time. Beyond it, the one that was idle
	// for longest is closed: waiting for it would keep health checks out.
	AdminConnections = 16
)

// Prometheus collects metrics for scrapes. It has a registry of its own.
type Prometheus struct {
	// Reader collects the metrics.
	Reader sdk.Reader

	registry *prometheus.Registry
}

// NewPrometheus returns a Prometheus without metrics. Pass its Reader to Start.
func NewPrometheus() (*Prometheus, error) {
	registry := prometheus.NewRegistry()
	reader, err := exporter.New(exporter.WithRegisterer(registry), exporter.WithoutScopeInfo())
	if err != nil {
		return nil, err
	}
	return &Prometheus{reader, registry}, nil
}

// AdminOptions configure the handler of an admin listener.
type AdminOptions struct {
	// Metrics are what /metrics shows. Required.
	Metrics *Prometheus
	// API answers /healthz and /readyz as the port for clients does. Without it, /healthz alone is
	// answered: the process runs.
	API http.Handler
	// FromHere reports whether a request comes from this machine. Required.
	FromHere func(*http.Request) bool
	// Loopback is whether only this machine reaches the listener. Then proxies on it get no answer.
	Loopback bool
}

// NewAdmin returns the handler of an admin listener, which answers operators and their programs:
// metrics in Prometheus' format, profiles of Go's runtime, health and readiness.
func NewAdmin(o AdminOptions) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, indexText) })
	metrics := promhttp.HandlerFor(o.Metrics.registry, promhttp.HandlerOpts{MaxRequestsInFlight: scrapesAtOnce, EnableOpenMetrics: true})
	mux.HandleFunc("GET /metrics", func(w http.ResponseWriter, r *http.Request) {
		// A scraper that does not read holds one of a few places, for a few seconds. A test's recorder
		// has no deadline.
		_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(scrapeTimeout))
		metrics.ServeHTTP(w, r)
	})
	if o.API != nil {
		mux.Handle("GET /healthz", o.API)
		mux.Handle("GET /readyz", o.API)
	} else {
		mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "ok\n") })
	}
	profiles := http.NewServeMux()
	profiles.HandleFunc("GET /debug/pprof/", pprof.Index)
	profiles.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
	profiles.HandleFunc("GET /debug/pprof/trace", pprof.Trace)
	// Not the command line, on which someone may have put a secret.
	profiles.HandleFunc("GET /debug/pprof/cmdline", http.NotFound)
	mux.Handle("GET /debug/pprof/", here(o.FromHere, short(profiles)))
	if o.Loopback {
		return plain(here(o.FromHere, mux))
	}
	return plain(mux)
}

// short refuses profiles that take longer than an answer may.
func short(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if seconds, err := strconv.ParseFloat(r.FormValue("seconds"), 64); err == nil && !(seconds <= mostSeconds) {
			http.Error(w, fmt.Sprintf("a profile takes %d seconds at most", mostSeconds), http.StatusBadRequest)
			return
		}
		next.ServeHTTP(w, r)
	})
}

const indexText = `/metrics       metrics in Prometheus' format
/healthz       200 while the process runs
/readyz        200 while the table answers; only of talkback serve
/debug/pprof/  profiles, for callers on this machine
`

// here refuses callers on other machines, and pages in a browser on this one.
func here(fromHere func(*http.Request) bool, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		site := r.Header.Get("Sec-Fetch-Site") // which every current browser sends
		crossSite := r.Header.Get("Origin") != "" || site != "" && site != "none" && site != "same-origin"
		if !fromHere(r) || crossSite {
			http.Error(w, "this is for programs on the same machine: run yours there, or forward the port to it", http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// plain sets the headers of every answer.
func plain(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Content-Type-Options", "nosniff")
		w.Header().Set("Cache-Control", "no-store")
		next.ServeHTTP(w, r)
	})
}
