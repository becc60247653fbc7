package auth

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/talkback/talkback/comment"
)

// This file reads tokens exactly where the library is lenient, so that no two readers understand a
// token differently: names are case-sensitive and unique, tokens with critical extensions are
// refused, and their encoding is canonical.

// types are the types of signed tokens that authors may send, besides none: the usual one, and that
// of RFC 9068. The same keys may sign tokens for other purposes, as RFC 8725, section 3.11, warns:
// to log out, to prove possession of a key.
var types = []string{"JWT", "AT+JWT"}

// maxDate is the latest time that a claim may name, in seconds. JSON's numbers are exact up to it.
const maxDate = 1 << 53

// isExact reports whether a token can be read in only one way, and needs nothing that this package
// lacks. It does not check the signature.
func isExact(token string) bool {
	parts := strings.Split(token, ".")
	if len(parts) != 3 || strings.ContainsAny(token, "\r\n") { // which the base64 decoder skips
		return false
	}
	header, ok := readPart(parts[0])
	if !ok || !isPlainHeader(header) {
		return false
	}
	claims, ok := readPart(parts[1])
	subject, isText := claims["sub"].(string)
	if !ok || !isText || strings.ContainsRune(subject, utf8.RuneError) { // which replaces half of a surrogate pair
		return false
	}
	for _, name := range []string{"exp", "nbf", "iat"} { // to be compared exactly
		value, there := claims[name]
		if seconds, isNumber := value.(float64); there && (!isNumber || math.Abs(seconds) > maxDate) {
			return false
		}
	}
	return true
}

// readPart reads the JSON object of one part of a token.
func readPart(part string) (object map[string]any, ok bool) {
	text, err := base64.RawURLEncoding.Strict().DecodeString(part)
	if err != nil || !isUnambiguous(text) || json.Unmarshal(text, &object) != nil {
		return nil, false
	}
	return object, object != nil
}

// isPlainHeader reports whether a header has no extensions. Critical ones (RFC 7515, section
// 4.1.11) are unknown here, and a JWT has no unencoded payload (RFC 7797).
func isPlainHeader(header map[string]any) bool {
	for _, extension := range []string{"crit", "b64"} {
		if _, there := header[extension]; there {
			return false
		}
	}
	if kid, there := header["kid"]; there {
		if _, isText := kid.(string); !isText {
			return false
		}
	}
	kind, there := header["typ"]
	name, _ := kind.(string) // a media type, in any case, perhaps without "application/" (RFC 7515, section 4.1.9)
	return !there || slices.Contains(types, strings.TrimPrefix(strings.ToUpper(name), "APPLICATION/"))
}

// maxDepth bounds how deep values may be nested. Claims of identity providers have some four
// levels.
const maxDepth = 32

// isUnambiguous reports whether a text is one JSON value in UTF-8 with nothing after it, and no
// object in it has a name twice, or a name with half of a surrogate pair.
func isUnambiguous(text []byte) bool {
	halves := jsontext.AllowInvalidUTF8(true) // of pairs, in values
	if !utf8.Valid(text) || !jsontext.Value(text).IsValid(halves) {
		return false
	}
	for in := jsontext.NewDecoder(bytes.NewReader(text), halves); in.StackDepth() <= maxDepth; {
		token, err := in.ReadToken()
		if err != nil {
			return true // the text has ended
		}
		kind, read := in.StackIndex(in.StackDepth())
		if isName := kind == '{' && read%2 == 1; isName && strings.ContainsRune(token.String(), utf8.RuneError) {
			return false
		}
	}
	return false
}

// roleNames maps the names in a claim to roles. They are case-sensitive.
var roleNames = map[string]comment.Roles{
	"moderator": comment.Moderator,
	"merchant":  comment.Merchant,
	"shop":      comment.Shop,
}

// readRoles returns the roles that a claim lists, none if the token lacks it. Other names are
// ignored: issuers make tokens for several services. ok is false if the claim is there but is not a
// list of strings.
func readRoles(claims map[string]any, name string) (roles comment.Roles, ok bool) {
	value, there := lookUp(claims, name)
	if !there {
		return 0, true
	}
	list, isList := value.([]any)
	for _, entry := range list {
		role, isText := entry.(string)
		if !isText {
			return 0, false
		}
		roles |= roleNames[role]
	}
	return roles, isList
}

// lookUp returns the claim with a name. If there is none, it follows the name as a path, such as
// realm_access.roles. A path through something other than an object counts as there, and leads to
// nil.
func lookUp(claims map[string]any, name string) (value any, there bool) {
	if value, there = claims[name]; there {
		return value, true
	}
	value = claims
	for step := range strings.SplitSeq(name, ".") {
		object, isObject := value.(map[string]any)
		if !isObject {
			return nil, true
		}
		if value, there = object[step]; !there {
			return nil, false
		}
	}
	return value, true
}
