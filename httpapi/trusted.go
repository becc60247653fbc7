package httpapi

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync/atomic"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/talkback/talkback/internal/fetch"
)

// hashPrefix begins an id that is the SHA-256 of its document, as appendix A of GraphQL over HTTP
// has it.
const hashPrefix = "sha256:"

// maxManifest bounds a manifest, in bytes.
const maxManifest = 64 << 20

// TrustedDocuments are the documents of manifests. It is safe for concurrent use.
type TrustedDocuments struct {
	// Only says that no other operation runs.
	Only bool

	files []string
	own   []byte // the manifest of this server's pages
	check func(text string) error
	now   atomic.Pointer[documentSet]
}

// documentSet is a set of documents, which does not change.
type documentSet struct {
	byID  map[string]string
	texts map[string]bool
}

// OpenTrustedDocuments reads the manifests in files. own is the manifest of this server's pages,
// nil for none. check returns an error if a document cannot run. An error names the file, and the
// document if it is about one.
func OpenTrustedDocuments(files []string, own []byte, only bool, check func(text string) error) (*TrustedDocuments, error) {
	t := &TrustedDocuments{Only: only, files: files, own: own, check: check}
	return t, t.read()
}

// Reload reads the manifests again. After an error, the documents stay as they were. It refuses
// pipes, which it could wait for without end.
func (t *TrustedDocuments) Reload() error {
	for _, file := range t.files {
		if info, err := os.Stat(file); err == nil && !info.Mode().IsRegular() {
			return fmt.Errorf("%s is not a regular file, and is read at the start only: put a file in its place", file)
		}
	}
	return t.read()
}

func (t *TrustedDocuments) read() error {
	read := &documentSet{map[string]string{}, map[string]bool{}}
	if t.own != nil {
		listed, err := parseManifest(t.own)
		if err != nil {
			return err
		}
		for _, d := range listed {
			_ = t.add(read, d) // a limit of this server may be too low for a document, which then cannot run
		}
	}
	origin := map[string]string{} // the file of an id
	for _, file := range t.files {
		raw, err := fetch.File(file, maxManifest)
		if err != nil {
			return err
		}
		listed, err := parseManifest(raw)
		if err != nil {
			return fmt.Errorf("%s is no manifest that Apollo's tools, Relay's compiler or GraphQL Code Generator write (%s): build it anew", file, explainManifest(err))
		}
		for _, d := range listed {
			if other, known := read.byID[d.id]; known && other != d.text && origin[d.id] != "" {
				return fmt.Errorf("%s and %s have different documents with the id %q: build both anew, or give one of them", origin[d.id], file, d.id)
			}
			if err := t.add(read, d); err != nil {
				return fmt.Errorf("%s: the document %q cannot be served: %w", file, d.id, err)
			}
			origin[d.id] = file
		}
	}
	t.now.Store(read)
	return nil
}

// add adds a document under its id and under its SHA-256.
func (t *TrustedDocuments) add(read *documentSet, d trustedDocument) error {
	hash := hashPrefix + hashOf(d.text)
	if d.id == "" {
		return fmt.Errorf("it needs an id that is not empty")
	}
	if strings.HasPrefix(d.id, hashPrefix) && d.id != hash {
		return fmt.Errorf("its id is not the SHA-256 of its text, which is %s", hash)
	}
	if err := t.check(d.text); err != nil {
		return err
	}
	read.byID[d.id], read.byID[hash] = d.text, d.text
	read.texts[d.text] = true
	return nil
}

// Find returns the text of the document with an id of a manifest, or with a SHA-256, with or
// without "sha256:" before it.
func (t *TrustedDocuments) Find(id string) (text string, found bool) {
	now := t.now.Load()
	if text, found = now.byID[id]; !found {
		text, found = now.byID[hashPrefix+id]
	}
	return text, found
}

// holds reports whether a text equals that of a document, byte for byte.
func (t *TrustedDocuments) holds(text string) bool { return t.now.Load().texts[text] }

// Len returns how many documents there are.
func (t *TrustedDocuments) Len() int { return len(t.now.Load().texts) }

// hashOf returns the SHA-256 of a text, in lower-case hexadecimal digits.
func hashOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// trustedDocument is a document of a manifest.
type trustedDocument struct{ id, text string }

// explainManifest says in plain words why a manifest cannot be read.
func explainManifest(err error) string {
	if syntax, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
		if errors.Is(err, jsontext.ErrDuplicateName) {
			return fmt.Sprintf("%.80q stands twice, the second time after byte %d", syntax.JSONPointer.LastToken(), syntax.ByteOffset)
		}
		return fmt.Sprintf("it is not JSON after byte %d: %v", syntax.ByteOffset, syntax.Err)
	}
	if wrong, ok := errors.AsType[*json.SemanticError](err); ok {
		if wrong.JSONPointer == "" {
			return "it is not a JSON object"
		}
		return fmt.Sprintf("%.80s has another type than in such a manifest", wrong.JSONPointer)
	}
	return err.Error()
}

// apolloFormat is the format that manifests of Apollo's tools declare.
const apolloFormat = "apollo-persisted-query-manifest"

// parseManifest reads a manifest of Apollo, or an object from ids to texts, as Relay's compiler and
// GraphQL Code Generator write it.
func parseManifest(raw []byte) ([]trustedDocument, error) {
	var members map[string]jsontext.Value
	if err := json.Unmarshal(raw, &members); err != nil {
		return nil, err
	}
	var documents []trustedDocument
	if operations, apollo := members["operations"]; apollo && operations.Kind() == '[' {
		var manifest struct {
			Format     string `json:"format"`
			Version    int    `json:"version"`
			Operations []struct {
				ID   string `json:"id"`
				Body string `json:"body"`
			} `json:"operations"`
		}
		if err := json.Unmarshal(raw, &manifest); err != nil {
			return nil, err
		}
		if manifest.Format != apolloFormat || manifest.Version != 1 {
			return nil, errors.New(`it has "operations", but not the format "` + apolloFormat + `" in version 1`)
		}
		for _, operation := range manifest.Operations {
			documents = append(documents, trustedDocument{id: operation.ID, text: operation.Body})
		}
		return documents, nil
	}
	for id, value := range members {
		var text string
		if err := json.Unmarshal(value, &text); err != nil {
			return nil, fmt.Errorf("its member %q is not the text of a document", id)
		}
		documents = append(documents, trustedDocument{id: id, text: text})
	}
	return documents, nil
}
