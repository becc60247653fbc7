package call

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
)

// keys are credentials by the name of their access key. Secret and session token follow from it, so
// a test's table can verify any.
type keys string

// Retrieve implements [aws.CredentialsProvider].
func (k keys) Retrieve(context.Context) (aws.Credentials, error) {
	return aws.Credentials{AccessKeyID: string(k), SecretAccessKey: secretOf(string(k)), SessionToken: tokenOf(string(k))}, nil
}

func secretOf(key string) string { return "very-secret/" + key }
func tokenOf(key string) string  { return "session+token/" + key }

// verify checks the signature of a request, for a region. It follows AWS's documentation, and shares no code with
// the SDK's signer.
// https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html
func verify(r *received, region string) error {
	credential, signed, signature, err := authorization(r.Header.Get("Authorization"))
	if err != nil {
		return err
	}
	key, scope, _ := strings.Cut(credential, "/")
	for _, needed := range []string{"host", "x-amz-date", "x-amz-target", "x-amz-security-token"} {
		if !slices.Contains(signed, needed) {
			return fmt.Errorf("%s is not signed", needed)
		}
	}
	if token := r.Header.Get("X-Amz-Security-Token"); token != tokenOf(key) {
		return fmt.Errorf("the session token of %q is not that of its key", key)
	}
	date := r.Header.Get("X-Amz-Date")
	if want := date[:8] + "/" + region + "/dynamodb/aws4_request"; scope != want {
		return fmt.Errorf("the scope is %s, want %s", scope, want)
	}
	text := strings.Join([]string{"AWS4-HMAC-SHA256", date, scope, hash(canonical(r, signed))}, "\n")
	secret := []byte("AWS4" + secretOf(key))
	for part := range strings.SplitSeq(scope, "/") {
		secret = mac(secret, part)
	}
	if want := hex.EncodeToString(mac(secret, text)); signature != want {
		return fmt.Errorf("the signature is wrong: of\n%s", canonical(r, signed))
	}
	return nil
}

// authorization splits the header of this name.
func authorization(header string) (credential string, signed []string, signature string, err error) {
	parts, found := strings.CutPrefix(header, "AWS4-HMAC-SHA256 ")
	fields := map[string]string{}
	for part := range strings.SplitSeq(parts, ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(part), "=")
		fields[name] = value
	}
	if !found || fields["Credential"] == "" || fields["Signature"] == "" {
		return "", nil, "", fmt.Errorf("not signed: Authorization is %q", header)
	}
	return fields["Credential"], strings.Split(fields["SignedHeaders"], ";"), fields["Signature"], nil
}

// optional reports whether the SDK signs a header that SigV4 lets be unsigned. Lean reads do not.
func optional(name string) bool {
	return slices.Contains([]string{"accept-encoding", "content-length", "amz-sdk-invocation-id", "amz-sdk-request"}, name)
}

// canonical is what is signed of a request. Its path is escaped twice.
func canonical(r *received, signed []string) string {
	lines := []string{r.Method, strings.ReplaceAll(r.URL.EscapedPath(), "%", "%25"), r.URL.RawQuery}
	for _, name := range signed {
		value := strings.Join(r.Header.Values(name), ",")
		switch name {
		case "host":
			value = r.Host
		case "content-length":
			value = fmt.Sprint(r.ContentLength)
		}
		lines = append(lines, name+":"+strings.Join(strings.Fields(value), " "))
	}
	return strings.Join(append(lines, "", strings.Join(signed, ";"), hash(string(r.body))), "\n")
}

func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

func mac(key []byte, text string) []byte {
	m := hmac.New(sha256.New, key)
	m.Write([]byte(text))
	return m.Sum(nil)
}
