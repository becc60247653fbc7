// Command infra writes the files of infra/ that describe the table. They are generated from
// layout.Definition, from which the program itself creates tables. `make generate` runs it in the
// root of the repository. With two arguments, a program and an archive, it packs the program for
// AWS Lambda, reproducibly.
package main

import (
	"archive/zip"
	"bytes"
	"fmt"
	"maps"
	"os"
	"slices"
)

// files returns the generators of files, by path from the root of the repository.
func files() map[string]func() ([]byte, error) {
	return map[string]func() ([]byte, error){
		"infra/table.json":         cloudFormation,
		"infra/terraform/table.tf": terraform,
		"infra/workbench.json":     workbench,
	}
}

func main() {
	run := generate
	if len(os.Args) == 3 {
		run = func() error { return pack(os.Args[1], os.Args[2]) }
	}
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// generate writes the files.
func generate() error {
	generated := files()
	for _, path := range slices.Sorted(maps.Keys(generated)) {
		content, err := generated[path]()
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		if err := os.WriteFile(path, content, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// pack writes an archive with a program under the name that Lambda expects. The archive contains no
// time.
func pack(program, archive string) error {
	content, err := os.ReadFile(program)
	if err != nil {
		return err
	}
	var out bytes.Buffer
	header := &zip.FileHeader{Name: "bootstrap", Method: zip.Deflate}
	header.SetMode(0o755)
	packed := zip.NewWriter(&out)
	file, err := packed.CreateHeader(header)
	if err != nil {
		return err
	}
	if _, err := file.Write(content); err != nil {
		return err
	}
	if err := packed.Close(); err != nil {
		return err
	}
	return os.WriteFile(archive, out.Bytes(), 0o644)
}
