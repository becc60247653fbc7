package auth_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/talkback/talkback/auth"
	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/internal/commenttest/must"
)

const (
	plainHeader = `{"alg":"HS256","typ":"JWT"}`
	plainClaims = `{"sub":"ada","exp":1999999999}`
)

// rawToken signs a header and claims as given, by HS256.
func rawToken(header, claims string) string {
	text := base64.RawURLEncoding.EncodeToString([]byte(header)) + "." + base64.RawURLEncoding.EncodeToString([]byte(claims))
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(text))
	return text + "." + base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

// Tokens that are correctly signed but ambiguous to different readers identify nobody.
func TestTokensAreReadExactly(t *testing.T) {
	g := guard(t, auth.Settings{Algorithm: "HS256", Key: secret})
	for _, row := range []struct {
		why, header, claims string
		want                comment.Kind
	}{
		{"a plain one", plainHeader, plainClaims, allowed},
		{"no type", `{"alg":"HS256"}`, plainClaims, allowed},
		{"a type in full", `{"alg":"HS256","typ":"application/jwt"}`, plainClaims, allowed},
		{"an access token of RFC 9068", `{"alg":"HS256","typ":"at+jwt"}`, plainClaims, allowed},
		{"spaces and unknown claims", " " + plainHeader, `{ "Name": "x", "exp": 1999999999.5, "sub": "ada", "a": [{"b": null}, {"b": 1}] }`, allowed},
		{"a name by escapes", plainHeader, `{"s\u0075b":"ada","exp":1999999999}`, allowed},
		{"a name in another case is a name of its own", plainHeader, `{"sub":"ada","SUB":"bob","exp":1999999999,"EXP":1}`, allowed},

		{"the subject in another case", plainHeader, `{"SUB":"ada","exp":1999999999}`, comment.Unauthenticated},
		{"another's subject, and a second one in another case", plainHeader, `{"sub":"bob","SUB":"ada","exp":1999999999}`, comment.Forbidden},
		{"an end, and a later one in another case", plainHeader, `{"sub":"ada","exp":1,"EXP":1999999999}`, comment.Unauthenticated},
		{"two subjects", plainHeader, `{"sub":"bob","sub":"ada","exp":1999999999}`, comment.Unauthenticated},
		{"two subjects, one by escapes", plainHeader, `{"sub":"bob","s\u0075b":"ada","exp":1999999999}`, comment.Unauthenticated},
		{"a name twice, deep inside", plainHeader, `{"sub":"ada","exp":1999999999,"a":[{"b":{"c":1,"c":1}}]}`, comment.Unauthenticated},
		{"half a character as a subject", plainHeader, `{"sub":"\ud83d","exp":1999999999}`, comment.Unauthenticated},
		{"half a character in a name", plainHeader, `{"sub":"ada","exp":1999999999,"\ud83d":1}`, comment.Unauthenticated},
		{"bytes that are no text", plainHeader, "{\"sub\":\"ada\",\"exp\":1999999999,\"a\":\"\xff\"}", comment.Unauthenticated},
		{"a subject that is null", plainHeader, `{"sub":null,"exp":1999999999}`, comment.Unauthenticated},
		{"an end that is a text", plainHeader, `{"sub":"ada","exp":"1999999999"}`, comment.Unauthenticated},
		{"an end that is no number of seconds", plainHeader, `{"sub":"ada","exp":1e300}`, comment.Unauthenticated},
		{"a beginning so late that it overflows", plainHeader, `{"sub":"ada","exp":1999999999,"nbf":1e300}`, comment.Unauthenticated},
		{"something after the claims", plainHeader, plainClaims + `{}`, comment.Unauthenticated},
		{"claims that are a list", plainHeader, `[` + plainClaims + `]`, comment.Unauthenticated},
		{"no claims", plainHeader, `null`, comment.Unauthenticated},
		{"a token in a token", `{"alg":"HS256","cty":"JWT"}`, rawToken(plainHeader, plainClaims), comment.Unauthenticated},
		{"claims too deep", plainHeader, `{"sub":"ada","exp":1999999999,"a":` + strings.Repeat("[", 1000) + strings.Repeat("]", 1000) + `}`, comment.Unauthenticated},

		{"two algorithms", `{"alg":"none","alg":"HS256"}`, plainClaims, comment.Unauthenticated},
		{"the algorithm in another case", `{"ALG":"HS256"}`, plainClaims, comment.Unauthenticated},
		{"a critical extension", `{"alg":"HS256","crit":["exp"],"exp":1}`, plainClaims, comment.Unauthenticated},
		{"nothing that is critical, which RFC 7515 forbids", `{"alg":"HS256","crit":[]}`, plainClaims, comment.Unauthenticated},
		{"a payload not encoded", `{"alg":"HS256","b64":false}`, plainClaims, comment.Unauthenticated},
		{"a token to log out", `{"alg":"HS256","typ":"logout+jwt"}`, plainClaims, comment.Unauthenticated},
		{"an event", `{"alg":"HS256","typ":"application/secevent+jwt"}`, plainClaims, comment.Unauthenticated},
		{"a type that is empty", `{"alg":"HS256","typ":""}`, plainClaims, comment.Unauthenticated},
		{"a type that is no text", `{"alg":"HS256","typ":null}`, plainClaims, comment.Unauthenticated},
		{"a key's name that is no text", `{"alg":"HS256","kid":7}`, plainClaims, comment.Unauthenticated},
	} {
		if got := mayWrite(t, g, "Bearer "+rawToken(row.header, row.claims)); got != row.want {
			t.Errorf("%s: %d, want %d", row.why, got, row.want)
		}
	}
}

// There is one way to write a token's bytes.
func TestTokensAreEncodedExactly(t *testing.T) {
	g := guard(t, auth.Settings{Algorithm: "HS256", Key: secret})
	token := rawToken(plainHeader, plainClaims)
	parts := strings.Split(token, ".")
	last := token[len(token)-1]
	const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
	sameBytes := digits[strings.IndexByte(digits, last)|1 : strings.IndexByte(digits, last)|1+1] // its last two bits are not part of the signature
	for why, changed := range map[string]string{
		"padding":                 token + "=",
		"bits beyond the last":    token[:len(token)-1] + sameBytes,
		"a line break":            parts[0] + "." + parts[1] + "." + parts[2][:4] + "\r\n" + parts[2][4:],
		"a fourth part":           token + ".",
		"two parts":               parts[0] + "." + parts[1],
		"the other base64":        parts[0] + "." + parts[1] + ".+/" + parts[2][2:],
		"no signature":            parts[0] + "." + parts[1] + ".",
		"a signature of the text": parts[0] + "." + parts[1] + "." + parts[0],
	} {
		if got := mayWrite(t, g, "Bearer "+changed); got != comment.Unauthenticated {
			t.Errorf("%s: %d", why, got)
		}
	}
}

// Whatever is signed, only a token that says once, under the exact names, that it is Ada's and has
// not ended may write as Ada.
func FuzzTokensAreReadExactly(f *testing.F) {
	for _, claims := range []string{
		plainClaims, `{"sub":"bob","SUB":"ada","exp":1999999999}`, `{"sub":"bob","sub":"ada","exp":1999999999}`, `{"sub":"ada","exp":1,"Exp":1999999999}`,
		`{"ſub":"ada","exp":1999999999}`, `{"sub":"ada","exp":1999999999,"nbf":1e300}`,
	} {
		f.Add(plainHeader, claims)
	}
	f.Add(`{"alg":"none","ALG":"HS256"}`, plainClaims)
	f.Add(`{"alg":"HS256","crit":["x"],"x":1}`, plainClaims)
	f.Add(`{"alg":"HS256","b64":false}`, plainClaims)
	g := guard(f, auth.Settings{Algorithm: "HS256", Key: secret})
	f.Fuzz(func(t *testing.T, header, claims string) {
		if mayWrite(t, g, "Bearer "+rawToken(header, claims)) != allowed {
			return
		}
		h, c := membersOf(t, header), membersOf(t, claims)
		if h["alg"] != `"HS256"` || h["crit"]+h["b64"] != "" {
			t.Errorf("a header that is none of ours: %q", header)
		}
		var subject string
		var exp, nbf float64
		if json.Unmarshal([]byte(c["sub"]), &subject) != nil || json.Unmarshal([]byte(c["exp"]), &exp) != nil || subject != "ada" || exp < float64(at(-11e9)) {
			t.Errorf("not Ada's, or at its end: %q", claims)
		}
		if c["nbf"] != "" && (json.Unmarshal([]byte(c["nbf"]), &nbf) != nil || nbf > float64(at(12e9))) {
			t.Errorf("not valid yet: %q", claims)
		}
	})
}

// membersOf returns the members of an object; a duplicate name fails the test.
func membersOf(t *testing.T, text string) map[string]string {
	t.Helper()
	decoder := json.NewDecoder(strings.NewReader(text))
	if opening, err := decoder.Token(); err != nil || opening != json.Delim('{') {
		t.Fatalf("no object: %q", text)
	}
	members := map[string]string{}
	for decoder.More() {
		name := must.Get(decoder.Token())(t)
		var value json.RawMessage
		must.Do(t, decoder.Decode(&value))
		if _, twice := members[fmt.Sprint(name)]; twice {
			t.Errorf("%q is there twice: %q", name, text)
		}
		members[fmt.Sprint(name)] = string(value)
	}
	return members
}
