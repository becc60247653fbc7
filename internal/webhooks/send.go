package webhooks

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/talkback/talkback/dynamo/outbox"
	"github.com/talkback/talkback/internal/fetch"
)

const (
	// timeout bounds a delivery, from resolving the address to reading the end of the answer.
	timeout = 15 * time.Second
	// maxAnswer is how much of an answer is read, so that the connection can be reused.
	maxAnswer = 16 << 10
)

// payload is the body of a delivery, in the form that Standard Webhooks recommends.
type payload struct {
	Type      outbox.Kind `json:"type"`
	Timestamp time.Time   `json:"timestamp"`
	Data      data        `json:"data"`
}

type data struct {
	Product string `json:"product"`
	Comment string `json:"comment"`
	Version int    `json:"version"`
	Shown   bool   `json:"shown"`
}

// TestKind is the kind of the event that Sender.Test sends.
const TestKind outbox.Kind = "talkback.test"

// Sender posts events. It is safe for concurrent use.
type Sender struct {
	secret          func(name string) (string, bool)
	public, private *http.Client
}

// NewSender makes a sender. secret looks up an environment variable, as os.LookupEnv does.
func NewSender(secret func(name string) (string, bool)) *Sender {
	return &Sender{secret: secret, public: newClient(fetch.Public, errPrivate), private: newClient(fetch.PublicOrInside, errMachine)}
}

// newClient makes a client that connects to allowed addresses only, and fails with refused for
// others. It follows no redirects and uses no proxy: both would reach unchecked addresses.
func newClient(allowed func(netip.Addr) bool, refused error) *http.Client {
	dialer := &net.Dialer{Timeout: timeout, Control: fetch.Control(allowed, func(netip.Addr) error { return refused })}
	return &http.Client{
		Timeout:       timeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: &http.Transport{
			DialContext: dialer.DialContext, ForceAttemptHTTP2: true, MaxIdleConnsPerHost: outbox.Lanes, IdleConnTimeout: time.Minute,
			MaxResponseHeaderBytes: maxAnswer,
			HTTP2:                  fetch.Pings(timeout),
			TLSHandshakeTimeout:    timeout, // a handshake may outlive the request that began it
		},
	}
}

// The errors of addresses that a hook may not have: private ones, and those of a cloud's metadata
// service, which hands out credentials.
var (
	errPrivate = errors.New("the name resolves to an address that is not public: use one that is, or add the hook with --allow-private if it is inside your own network")
	errMachine = errors.New("the name resolves to an address that is neither public nor private, such as that of a cloud's metadata: use another one")
)

// Ready returns why this process cannot sign deliveries to a hook, nil if it can.
func (s *Sender) Ready(h Hook) (err error) {
	if h.Purge != "" {
		_, err = s.token(h)
	} else {
		_, err = s.signers(h)
	}
	return err
}

// maxSecrets is how many secrets a hook has while its receiver changes from one to the next.
const maxSecrets = 2

// signers returns a signer for each secret of a hook. By Standard Webhooks, a receiver takes a
// delivery if one of the signatures is by its own secret.
func (s *Sender) signers(h Hook) ([]*standardwebhooks.Webhook, error) {
	text, ok := s.secret(h.SecretEnv)
	if !ok {
		return nil, fmt.Errorf("the environment variable %s is not set in this process: set it to the secret of the hook", h.SecretEnv)
	}
	wrong := fmt.Errorf("the environment variable %s holds no secret: it must be %s and 24 to 64 random bytes in base64, or two such with a space between them", h.SecretEnv, secretPrefix)
	var signers []*standardwebhooks.Webhook
	for secret := range strings.FieldsSeq(text) {
		signer, err := standardwebhooks.NewWebhook(secret)
		if err != nil || len(secret) < len(secretPrefix)+32 || len(signers) == maxSecrets {
			return nil, wrong
		}
		signers = append(signers, signer)
	}
	if len(signers) == 0 {
		return nil, wrong
	}
	return signers, nil
}

// Send delivers events to a hook in one request: one event, or all events whose products a CDN is
// to purge. Its error contains neither the query of the URL nor the answer.
func (s *Sender) Send(ctx context.Context, h Hook, events ...outbox.Event) (err error) {
	var request *http.Request
	if h.Purge != "" {
		var token string
		if token, err = s.token(h); err == nil {
			request, err = purgeRequest(ctx, h.Purge, h.URL, token, events)
		}
	} else {
		request, err = s.post(ctx, h, events[0])
	}
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("User-Agent", "Talkback")
	client := s.public
	if h.AllowPrivate {
		client = s.private
	}
	response, err := client.Do(request)
	if err != nil {
		return undelivered(err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusSwitchingProtocols { // reading after it has no timeout
		_, _ = io.CopyN(io.Discard, response.Body, maxAnswer) // only the status matters
	}
	switch status := response.StatusCode; {
	case status >= 200 && status < 300:
		return nil
	case status >= 300 && status < 400:
		return fmt.Errorf("it answers %d, a redirect, which is not followed: add the hook with the address that it leads to", status)
	default:
		return statusError{status, retryAfter(response.Header, time.Now())}
	}
}

// statusError is the status that refused a delivery, and its Retry-After, 0 without one.
type statusError struct {
	status int
	wait   time.Duration
}

// Error implements error.
func (e statusError) Error() string {
	return fmt.Sprintf("it answers %d %s", e.status, http.StatusText(e.status))
}

// retryAfter reads the header Retry-After, which is a number of seconds or a time (RFC 9110,
// section 10.2.3); 0 without one, and for anything else.
func retryAfter(header http.Header, now time.Time) time.Duration {
	text := header.Get("Retry-After")
	if seconds, err := strconv.ParseUint(text, 10, 31); err == nil {
		return time.Duration(seconds) * time.Second
	}
	if at, err := http.ParseTime(text); err == nil {
		return max(0, at.Sub(now))
	}
	return 0
}

// token returns the API token of a hook's CDN.
func (s *Sender) token(h Hook) (string, error) {
	token, _ := s.secret(h.SecretEnv)
	if token == "" || strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return "", fmt.Errorf("the environment variable %s holds no token in this process: set it to one that may purge at %s", h.SecretEnv, h.Purge)
	}
	return token, nil
}

// post returns the signed request for an event.
func (s *Sender) post(ctx context.Context, h Hook, e outbox.Event) (*http.Request, error) {
	body, err := json.Marshal(payload{e.Kind, e.At, data{e.Product, string(e.Comment), e.Version, e.Shown}})
	if err != nil {
		return nil, err
	}
	signers, err := s.signers(h)
	if err != nil {
		return nil, err
	}
	now := time.Now()
	signatures := make([]string, len(signers))
	for i, signer := range signers {
		if signatures[i], err = signer.Sign(e.ID, now, body); err != nil {
			return nil, err
		}
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, h.URL, bytes.NewReader(body))
	if err != nil {
		return nil, errAddress
	}
	request.Header.Set(standardwebhooks.HeaderWebhookID, e.ID)
	request.Header.Set(standardwebhooks.HeaderWebhookTimestamp, strconv.FormatInt(now.Unix(), 10))
	request.Header.Set(standardwebhooks.HeaderWebhookSignature, strings.Join(signatures, " "))
	return request, nil
}

// Test posts an event of TestKind to a hook, once.
func (s *Sender) Test(ctx context.Context, h Hook, id string) error {
	err := s.Send(ctx, h, outbox.Event{ID: id, Kind: TestKind, At: time.Now().UTC().Truncate(time.Second)})
	if _, refused := errors.AsType[statusError](err); refused {
		err = fmt.Errorf("%w: the log of the receiver may say why", err)
	}
	return err
}

// undelivered returns why a delivery got no answer, without the URL of its hook.
func undelivered(err error) error {
	if request, ok := errors.AsType[*url.Error](err); ok {
		err = request.Err
	}
	var timeouts interface{ Timeout() bool }
	switch {
	case errors.Is(err, errPrivate):
		return errPrivate
	case errors.Is(err, errMachine):
		return errMachine
	case errors.As(err, &timeouts) && timeouts.Timeout():
		return fmt.Errorf("no answer within %v: answer first, and work afterwards", timeout)
	}
	return fmt.Errorf("no answer: %s: check the address, and that its receiver runs", fetch.Failure(err))
}
