// Package persisted finds the texts of operations that clients name instead of sending them: trusted
// documents, which manifests list, and automatic persisted queries, which clients register.
// docs/design/persisted.md says why they are as they are.
package persisted

import (
	"errors"
	"fmt"
	"os"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// document is a document of a manifest.
type document struct{ file, id, text string }

// apolloFormat is what a manifest of Apollo's tools says it is.
const apolloFormat = "apollo-persisted-query-manifest"

// readManifest returns the documents of a file.
func readManifest(file string) ([]document, error) {
	raw, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	documents, err := parseManifest(raw)
	if err != nil {
		return nil, fmt.Errorf("%s is no manifest that Apollo's tools, Relay's compiler or GraphQL Code Generator write (%w): build it anew", file, err)
	}
	for i := range documents {
		documents[i].file = file
	}
	return documents, nil
}

// parseManifest reads a manifest of Apollo, or an object from ids to texts, as Relay's compiler and
// GraphQL Code Generator write it.
func parseManifest(raw []byte) ([]document, error) {
	var members map[string]jsontext.Value
	if err := json.Unmarshal(raw, &members); err != nil {
		return nil, err
	}
	if operations, apollo := members["operations"]; apollo && operations.Kind() == '[' {
		return parseApollo(raw)
	}
	var documents []document
	for id, value := range members {
		var text string
		if err := json.Unmarshal(value, &text); err != nil {
			return nil, fmt.Errorf("its member %q is not the text of a document", id)
		}
		documents = append(documents, document{id: id, text: text})
	}
	return documents, nil
}

func parseApollo(raw []byte) ([]document, error) {
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
	documents := make([]document, len(manifest.Operations))
	for i, operation := range manifest.Operations {
		documents[i] = document{id: operation.ID, text: operation.Body}
	}
	return documents, nil
}
