package reviewfile

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"regexp"
	"strings"

	"github.com/talkback/talkback/comment"
)

// ErrAddress ends the reading of a file that would publish an e-mail address.
var ErrAddress = errors.New("the author is an e-mail address, and ids and names of authors are public: give --hash-authors, " +
	"or --authors-as-they-are if all may see the addresses, or leave them out by --map author=, and --map authorName= for names")

// errDetector ends the reading of a file because of Options.Detect.
var errDetector = errors.New("languages cannot be told")

// EndsReading reports whether an error is about the whole file, and not about a row.
func EndsReading(err error) bool { return errors.Is(err, ErrAddress) || errors.Is(err, errDetector) }

// address is what looks like an e-mail address within a text.
var address = regexp.MustCompile(`[^\s@<>]+@[^\s@<>]+\.[^\s@<>]+`)

// isAddress reports whether a text holds what looks like an e-mail address.
func isAddress(text string) bool { return strings.Contains(text, "@") && address.MatchString(text) }

// The author of a review that names none. The ID goes on with what is distinct of the row, so that
// strangers do not become one person.
const (
	anonymousPrefix = "anonymous-"
	anonymousName   = "Anonymous"
)

// authorOf completes the author of a review. Without an ID, the name is the ID, or a hash of a name
// that is too long. So two names are two authors.
func authorOf(options Options, id, name string, distinct [10]byte) (comment.Author, error) {
	a := comment.Author{ID: id, Name: name, Imported: id == "" || !options.Customers}
	named := isAddress(name)
	switch key := options.AuthorKey; {
	case len(key) > 0 && id != "":
		a.ID = hashOf(key, id)
	case len(key) > 0 && named:
		a.ID = hashOf(key, name)
	case (named || isAddress(id)) && !options.AuthorsAsTheyAre:
		return a, ErrAddress
	case id != "":
	case name == "" || strings.EqualFold(name, anonymousName):
		a.ID = anonymousPrefix + hex.EncodeToString(distinct[:])
	case len(name) > comment.MaxIDBytes:
		hash := sha256.Sum256([]byte(name))
		a.ID = hex.EncodeToString(hash[:])
	default:
		a.ID = name
	}
	if name == "" || named && !options.AuthorsAsTheyAre {
		a.Name = anonymousName
	}
	return a, nil
}

// hashOf returns what stands for an author's ID. Without the key, an address could be found by
// hashing those that are known from elsewhere. Addresses that differ in case are one.
func hashOf(key []byte, id string) string {
	mac := hmac.New(sha256.New, key)
	_, _ = mac.Write([]byte(strings.ToLower(id))) // a hash takes everything
	return hex.EncodeToString(mac.Sum(nil))
}
