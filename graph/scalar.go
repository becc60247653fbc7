// Package graph is what gqlgen generates of the schema, and the custom scalars of the schema, whose
// errors are of a known kind, so that clients see what to do.
package graph

import (
	"io"
	"time"

	"github.com/99designs/gqlgen/graphql"

	"github.com/talkback/talkback/comment"
)

// MarshalDateTime writes a time in UTC, with as many fractional digits as it has.
func MarshalDateTime(t time.Time) graphql.Marshaler {
	return graphql.WriterFunc(func(w io.Writer) {
		var buffer [len(time.RFC3339Nano) + 2]byte
		text := append(buffer[:0], '"')
		text = append(t.UTC().AppendFormat(text, time.RFC3339Nano), '"')
		_, _ = w.Write(text) // to gqlgen's buffer, which returns no error
	})
}

// UnmarshalDateTime reads RFC 3339. It returns a BadInput error for anything else.
func UnmarshalDateTime(value any) (time.Time, error) {
	text, _ := value.(string)
	return comment.ParseTime(text)
}

// MarshalLanguage writes a language tag. It escapes what no tag has: statistics may be edited by
// hand.
func MarshalLanguage(l comment.Language) graphql.Marshaler { return graphql.MarshalString(string(l)) }

// UnmarshalLanguage reads a BCP 47 tag and converts it to canonical form. It returns a BadInput
// error for anything else.
func UnmarshalLanguage(value any) (comment.Language, error) {
	text, ok := value.(string)
	if !ok {
		return "", comment.Errorf(comment.BadInput, `a Language is a text such as "en"`)
	}
	return comment.StoredLanguage(text)
}

// Pointers returns pointers to the elements of a list, as gqlgen takes lists.
func Pointers[T any](rows []T) []*T {
	out := make([]*T, len(rows))
	for i := range rows {
		out[i] = &rows[i]
	}
	return out
}
