package call

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/talkback/talkback/dynamo/layout"
)

// Every call of a client is one write, so that a quick answer cannot come between head and body.
func TestRequestIsOneWrite(t *testing.T) {
	withPeer(t, func(t *testing.T, p *peer) {
		p.answer = func(r *received) bool { return p.ok(r, "{}") }
		client := p.client()
		for name, call := range map[string]func() error{
			"Query": func() error { _, err := client.Query(t.Context(), queryOf("42")); return err },
			"PutItem": func() error {
				_, err := client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String("t"), Item: layout.CommentKey("c")})
				return err
			},
		} {
			_, _, before := p.seen()
			err := call()
			if _, _, writes := p.seen(); err != nil || writes != before+1 {
				t.Errorf("%s: %d writes, %v", name, writes-before, err)
			}
		}
	})
}

// A connection that broke while it was idle uses up no attempt of the call.
func TestBrokenIdleConnectionIsReplaced(t *testing.T) {
	withPeer(t, func(t *testing.T, p *peer) {
		p.answer = func(r *received) bool { return p.ok(r, "{}") }
		client := p.client()
		for range 2 {
			if _, err := client.Query(t.Context(), queryOf("42"), NoRetries); err != nil {
				t.Fatal(err)
			}
			p.mu.Lock()
			p.broken = true
			p.mu.Unlock()
		}
		if len(p.dialed) != 2 {
			t.Errorf("%d connections were made", len(p.dialed))
		}
	})
}
