package command

import (
	"context"
	"fmt"
	"os"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"golang.org/x/sync/errgroup"

	"github.com/talkback/talkback/internal/engine"
)

// Session is a connection to an engine with a table that is ready for use.
type Session struct {
	// Client calls the engine.
	Client *dynamodb.Client
	// Table is the name of the table.
	Table string
	// Address says where the table is, for people: an engine's URL, the local engine's folder, or AWS. Where the local engine
	// listens is told to nobody.
	Address string
	// AWS says that the engine is DynamoDB itself, with its limits and its prices.
	AWS bool

	local *engine.Engine // nil unless the engine is ours
	run   string         // of the local engine, which ends with the process that started it; empty of any other
}

// Lost is closed when the engine is ours and has ended.
func (s *Session) Lost() <-chan struct{} {
	if s.local == nil {
		return nil
	}
	return s.local.Done()
}

// LostReason is why the engine ended.
func (s *Session) LostReason() error { return s.local.Err() }

// Close stops the engine if it is ours.
func (s *Session) Close() error {
	if s.local == nil {
		return nil
	}
	return s.local.Stop()
}

// watch does some work, and ends it when the engine ends, whose reason is then the error.
func (s *Session) watch(ctx context.Context, work func(context.Context) error) error {
	group, ctx := errgroup.WithContext(ctx)
	done := make(chan struct{})
	group.Go(func() error {
		defer close(done)
		return work(ctx)
	})
	group.Go(func() error {
		select {
		case <-done:
			return nil
		case <-s.Lost():
			return s.LostReason()
		}
	})
	return group.Wait()
}

// processName names this process to people on other machines.
func processName(command string) string {
	host, err := os.Hostname()
	if err != nil {
		host = "an unknown machine"
	}
	return fmt.Sprintf("%s (pid %d on %s)", command, os.Getpid(), host)
}
