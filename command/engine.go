package command

import (
	"context"
	"errors"
	"fmt"
	"net/url"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo"
	"github.com/talkback/talkback/internal/engine"
)

// EngineFlags say which engine keeps the table, and which table.
type EngineFlags struct {
	Data        string `help:"Folder of the local engine (default: ${default})." default:"data" type:"path" placeholder:"DIR"`
	EngineFile  string `name:"engine" help:"The local engine's program, if it is neither beside this one nor on PATH." type:"path" placeholder:"FILE"`
	Endpoint    string `help:"Use the DynamoDB-compatible engine at this address instead of the local one." placeholder:"URL" xor:"engine"`
	AWS         bool   `name:"aws" help:"Use DynamoDB on AWS, with region and credentials of the SDK's default chain." xor:"engine"`
	Table       string `help:"Name of the table (default: ${default})." default:"${table}" placeholder:"NAME"`
	CreateTable bool   `help:"Make the table if it is missing. The local engine always does."`
}

// Session is a connection to an engine with a table that is ready for use.
type Session struct {
	// Client calls the engine.
	Client *dynamodb.Client
	// Table is the name of the table.
	Table string
	// Address says where the table is, for people.
	Address string
	// AWS says that the engine is DynamoDB itself, with its limits and its prices.
	AWS bool

	local *engine.Engine // nil unless the engine is ours
	run   string         // of the local engine, which ends with the process that started it; empty of any other
}

// Open connects to the engine that the flags name and sees that the table is there. Of the local engine, it uses the one
// that a server beside it runs on the same folder; without one it starts its own, which others may share if share is
// true. The owner's name tells others who holds the folder. An error is one sentence that names the cure.
func (f *EngineFlags) Open(ctx context.Context, owner string, share bool, term Terminal) (*Session, error) {
	session, err := f.connect(ctx, owner, share, term)
	if err != nil {
		return nil, err
	}
	if err := f.prepareTable(ctx, session); err != nil {
		return nil, errors.Join(err, session.Close())
	}
	return session, nil
}

func (f *EngineFlags) connect(ctx context.Context, owner string, share bool, term Terminal) (*Session, error) {
	session := &Session{Table: f.Table}
	switch {
	case f.AWS:
		client, err := dynamo.NewAWSClient(ctx)
		session.Client, session.Address, session.AWS = client, "AWS", true
		return session, err
	case f.Endpoint != "":
		if u, err := url.Parse(f.Endpoint); err != nil || u.Host == "" {
			return nil, fmt.Errorf("--endpoint %s is not an address: give one such as http://localhost:8000", f.Endpoint)
		}
		session.Client, session.Address = dynamo.NewLocalClient(f.Endpoint), f.Endpoint
		return session, nil
	}
	return session, f.connectLocal(ctx, session, owner, share, term)
}

func (f *EngineFlags) connectLocal(ctx context.Context, session *Session, owner string, share bool, term Terminal) error {
	if !share {
		endpoint, found, err := engine.Shared(ctx, f.Data)
		if err != nil {
			return err
		}
		if found {
			session.Client, session.Address, session.run = dynamo.NewLocalClient(endpoint), endpoint, endpoint
			return nil
		}
	}
	local, err := engine.Start(ctx, engine.Options{
		Folder: f.Data,
		Binary: f.EngineFile,
		Owner:  owner,
		Shared: share,
		Logger: term.Logger,
	})
	if err != nil {
		return err
	}
	session.local = local
	session.Client, session.Address, session.run = dynamo.NewLocalClient(local.Endpoint()), local.Endpoint(), local.Endpoint()
	return nil
}

// prepareTable makes a missing table where that costs nothing or was asked for.
func (f *EngineFlags) prepareTable(ctx context.Context, session *Session) error {
	err := dynamo.CheckTable(ctx, session.Client, f.Table)
	var missing *dynamo.MissingTableError
	local := !f.AWS && f.Endpoint == ""
	if errors.As(err, &missing) && (local || f.CreateTable) {
		return dynamo.CreateTable(ctx, session.Client, f.Table)
	}
	if kind := comment.KindOf(err); kind == comment.Unavailable || kind == comment.Timeout {
		return fmt.Errorf("no engine answers at %s (%w): start it there, or name another by --endpoint", session.Address, innermost(err))
	}
	return err
}

// innermost is the error that all the others are about: what is left when nobody is told who called whom.
func innermost(err error) error {
	for {
		inner := errors.Unwrap(err)
		if inner == nil {
			return err
		}
		err = inner
	}
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
