package command

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"github.com/talkback/talkback/httpapi/persisted"
	"github.com/talkback/talkback/web"
)

// PersistedFlags say which operations clients may name instead of sending their texts.
type PersistedFlags struct {
	Trusted []string `name:"trusted-documents" help:"Manifest of operations that clients may send by their ids alone, as Apollo's tools, Relay's compiler and GraphQL Code Generator write it. Repeatable. SIGHUP reads all again. With it, there are no automatic persisted queries." placeholder:"FILE"`
	Only    bool     `name:"trusted-only" help:"Refuse every operation that is not in a manifest of --trusted-documents."`
	Memory  uint32   `name:"max-persisted" help:"Automatic persisted queries that are remembered, in bytes; 0 takes none (default: ${default})." placeholder:"BYTES" default:"${max_persisted}"`
}

// defaultPersisted is how many bytes of automatic persisted queries are remembered: some thousand.
const defaultPersisted = 4 << 20

// open reads the manifests, or begins to remember queries, in the Redis at a URL too unless that is
// empty. close ends it.
func (f *PersistedFlags) open(check func(text string) error, redis, table string, log *slog.Logger) (trusted *persisted.Trusted, automatic *persisted.Automatic, stop func(), err error) {
	stop = func() {}
	switch {
	case len(f.Trusted) > 0:
		if trusted, err = persisted.OpenTrusted(f.Trusted, web.Operations(), f.Only, check); err != nil {
			return nil, nil, stop, usage(fmt.Errorf("--trusted-documents: %w", err))
		}
		stop = onHangup(func() { reload(trusted, log) })
	case f.Only:
		return nil, nil, stop, usagef("--trusted-only needs --trusted-documents: name the manifests of your clients")
	case f.Memory > 0:
		var shared persisted.Shared
		if redis != "" {
			store, err := persisted.OpenRedis(redis, table, log)
			if err != nil {
				return nil, nil, stop, usage(fmt.Errorf("--client-limits-redis: %w", err))
			}
			shared, stop = store, func() { _ = store.Close() }
		}
		automatic = persisted.NewAutomatic(int(f.Memory), shared)
	}
	return trusted, automatic, stop, nil
}

// reload reads the manifests again, and says what came of it.
func reload(trusted *persisted.Trusted, log *slog.Logger) {
	if err := trusted.Reload(); err != nil {
		log.Error("the trusted documents stay as they were: correct the manifest and send SIGHUP again", "error", err)
		return
	}
	log.Info("the trusted documents were read again", "documents", trusted.Len())
}

// onHangup calls a function at each SIGHUP, until stop is called.
func onHangup(call func()) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	caught := make(chan os.Signal, 1)
	signal.Notify(caught, syscall.SIGHUP)
	go func() {
		for {
			select {
			case <-caught:
				call()
			case <-ctx.Done():
				return
			}
		}
	}()
	return func() {
		signal.Stop(caught)
		cancel()
	}
}
