package main

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"time"

	cdx "github.com/CycloneDX/cyclonedx-go"
)

// list writes the modules in the program, as recorded by the compiler, in the CycloneDX format.
func (r *release) list(b build) error {
	program := cdx.Component{
		BOMRef: "program", Type: cdx.ComponentTypeApplication, Name: "talkback", Version: r.version,
		Licenses: &cdx.Licenses{{License: &cdx.License{ID: "Apache-2.0"}}},
	}
	standard := b.notices.moduleOf(&debug.Module{Path: "std", Version: strings.TrimPrefix(b.info.GoVersion, "go")})
	components := []cdx.Component{standard}
	for _, m := range b.info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		components = append(components, b.notices.moduleOf(m))
	}
	for _, m := range b.notices.npm {
		url := "pkg:npm/" + strings.Replace(m.Path, "@", "%40", 1) + "@" + m.Version
		components = append(components, cdx.Component{BOMRef: url, PackageURL: url, Type: cdx.ComponentTypeLibrary, Name: m.Path, Version: m.Version})
	}
	if b.engine != "" {
		content, err := os.ReadFile(b.engine)
		if err != nil {
			return err
		}
		components = append(components, cdx.Component{
			BOMRef: "engine", Type: cdx.ComponentTypeApplication, Name: filepath.Base(b.engine), Version: b.notices.engine.Version,
			Hashes:   &[]cdx.Hash{{Algorithm: cdx.HashAlgoSHA256, Value: fmt.Sprintf("%x", sha256.Sum256(content))}},
			Licenses: &cdx.Licenses{{Expression: "MIT OR Apache-2.0"}},
		})
	}
	needs := make([]string, len(components))
	for i, c := range components {
		needs[i] = c.BOMRef
	}
	bom := cdx.NewBOM()
	bom.Metadata = &cdx.Metadata{Timestamp: r.time.Format(time.RFC3339), Component: &program}
	bom.Components = &components
	bom.Dependencies = &[]cdx.Dependency{{Ref: program.BOMRef, Dependencies: &needs}}
	return create(r.name(b.os, b.arch)+".cdx.json", func(to io.Writer) error {
		return cdx.NewBOMEncoder(to, cdx.BOMFileFormatJSON).SetPretty(true).Encode(bom)
	})
}

// moduleOf returns a module as a component, with its checksum from go.sum and the licences that its
// texts are.
func (n notices) moduleOf(m *debug.Module) cdx.Component {
	url := "pkg:golang/" + m.Path + "@" + m.Version
	c := cdx.Component{BOMRef: url, PackageURL: url, Type: cdx.ComponentTypeLibrary, Name: m.Path, Version: m.Version}
	if sum, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(m.Sum, "h1:")); err == nil && m.Sum != "" {
		c.Hashes = &[]cdx.Hash{{Algorithm: cdx.HashAlgoSHA256, Value: hex.EncodeToString(sum)}}
	}
	var licences cdx.Licenses
	for _, id := range n.ids[m.Path] {
		licences = append(licences, cdx.LicenseChoice{License: &cdx.License{ID: id, Acknowledgement: cdx.LicenseAcknowledgementConcluded}})
	}
	c.Licenses = &licences
	return c
}
