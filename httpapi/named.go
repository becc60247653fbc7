package httpapi

import (
	"context"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/gqlerror"
)

// named finds the texts of operations that clients name instead of sending them, and refuses texts
// that may not be sent. It is an extension of gqlgen's executor, and must be the first: what it
// refuses is not parsed.
type named struct {
	trusted   *TrustedDocuments // nil for none
	automatic *AutomaticQueries // nil for none; without effect beside trusted documents
}

var _ interface {
	graphql.HandlerExtension
	graphql.OperationParameterMutator
	graphql.OperationContextMutator
} = (*named)(nil)

// Codes and messages of Apollo's protocol, which its clients look for to the letter. Each answer
// gets a copy, which the executor may change.
var (
	unknownQuery   = coded("PERSISTED_QUERY_NOT_FOUND", "PersistedQueryNotFound")
	noQueries      = coded("PERSISTED_QUERY_NOT_SUPPORTED", "PersistedQueryNotSupported")
	wrongHash      = coded("PERSISTED_QUERY_HASH_MISMATCH", "extensions.persistedQuery.sha256Hash is not the SHA-256 of the query: send that of its bytes in UTF-8, in lower-case hexadecimal digits")
	badPersisted   = coded("BAD_REQUEST", `extensions.persistedQuery cannot be read: send {"version": 1, "sha256Hash": "the SHA-256 of the query in hexadecimal digits"}`)
	otherDocument  = coded("BAD_REQUEST", "the documentId and extensions.persistedQuery name different documents: send one of the two")
	noDocuments    = coded("DOCUMENT_NOT_FOUND", "this server has no trusted documents: send the text of the operation as query, or start the server with --trusted-documents")
	unknownID      = coded("DOCUMENT_NOT_FOUND", "no trusted document has this id: add the manifest of this client to --trusted-documents, and send SIGHUP to the server")
	untrusted      = coded("DOCUMENT_NOT_TRUSTED", "this server runs trusted documents only: send the documentId of one, or add the manifest of this client to --trusted-documents, and send SIGHUP to the server")
	persistedQuery = "persistedQuery"
)

func coded(code, message string) gqlerror.Error {
	return gqlerror.Error{Message: message, Extensions: map[string]any{"code": code}}
}

// ExtensionName implements [graphql.HandlerExtension].
func (*named) ExtensionName() string { return "Named" }

// Validate implements [graphql.HandlerExtension].
func (*named) Validate(graphql.ExecutableSchema) error { return nil }

// MutateOperationParameters sets the text of an operation that the client names. Pages of this
// server may send any text.
func (n *named) MutateOperationParameters(ctx context.Context, params *graphql.RawParams) *gqlerror.Error {
	known := requestOf(ctx)
	if known.inside {
		return nil
	}
	var text string
	var err *gqlerror.Error
	hash := known.extensions.hash
	switch {
	case known.extensions.noHash:
		err = new(badPersisted)
	case known.documentID != "":
		// A hash beside it must name the same document: a proxy may know the request by either of them.
		if text, err = n.document(known.documentID); err == nil && hash != "" {
			if other, missing := n.document(hash); missing != nil || other != text {
				err = new(otherDocument)
			}
		}
	case params.Query == "" && hash != "":
		text, err = n.query(ctx, hash)
	default:
		text = params.Query
		err = n.take(ctx, hash, text)
	}
	if err != nil {
		params.Query = "" // so that nothing parses it
		return err
	}
	params.Query = text
	return nil
}

// document returns the text of a trusted document.
func (n *named) document(id string) (string, *gqlerror.Error) {
	if n.trusted == nil {
		return "", new(noDocuments)
	}
	if text, found := n.trusted.Find(id); found {
		return text, nil
	}
	return "", new(unknownID)
}

// query returns the text with a hash. A client that gets PersistedQueryNotSupported sends its texts
// from then on.
func (n *named) query(ctx context.Context, hash string) (string, *gqlerror.Error) {
	if n.trusted != nil {
		text, err := n.document(hash)
		if err != nil && !n.trusted.Only {
			return "", new(noQueries)
		}
		return text, err
	}
	if n.automatic == nil {
		return "", new(noQueries)
	}
	if text, found := n.automatic.Find(ctx, hash); found {
		return text, nil
	}
	return "", new(unknownQuery)
}

// take checks a text that the client sent. It notes a text with a hash, for MutateOperationContext
// to remember.
func (n *named) take(ctx context.Context, hash, text string) *gqlerror.Error {
	switch {
	case n.trusted != nil && n.trusted.Only && !n.trusted.holds(text):
		return new(untrusted)
	case n.trusted != nil, n.automatic == nil, hash == "":
		return nil
	case hashOf(text) != hash:
		return new(wrongHash)
	}
	graphql.GetOperationContext(ctx).Stats.SetExtension(persistedQuery, registration{hash, text})
	return nil
}

type registration struct{ hash, text string }

// MutateOperationContext remembers the text of an operation only if it can run, so that clients
// cannot fill the memory with arbitrary texts.
func (n *named) MutateOperationContext(ctx context.Context, operation *graphql.OperationContext) *gqlerror.Error {
	if noted, ok := operation.Stats.GetExtension(persistedQuery).(registration); ok {
		n.automatic.Add(ctx, noted.hash, noted.text)
	}
	return nil
}
