package product

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"html/template"
	"io/fs"
	"strings"
	"sync"
)

//go:embed template
var templateFiles embed.FS

// templates reads the embedded templates at its first call, by the language of their texts.
var templates = sync.OnceValue(func() map[string]*template.Template {
	read := map[string]*template.Template{}
	for _, t := range translations {
		all := template.New("").Funcs(template.FuncMap{"say": func(key string) string { return t.say(key) }})
		for _, name := range []string{"element", "page"} {
			content, err := templateFiles.ReadFile("template/" + name + ".html")
			if err != nil {
				panic(err) // the files are part of the program
			}
			template.Must(all.Parse(joinLines(string(content))))
		}
		read[t.lang] = all
	}
	return read
})

// joinLines removes the line breaks of a template, and the indentation after them.
func joinLines(text string) string {
	var joined strings.Builder
	for line := range strings.Lines(text) {
		joined.WriteString(strings.TrimSpace(line))
	}
	return joined.String()
}

// buildVersion identifies the templates, the texts and the style that pages are made of.
func buildVersion(style []byte) string {
	sum := sha256.New()
	sum.Write(style)
	for _, files := range []fs.FS{templateFiles, textFiles} {
		err := fs.WalkDir(files, ".", func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() {
				return err
			}
			content, err := fs.ReadFile(files, path)
			sum.Write(content)
			return err
		})
		if err != nil {
			panic(err) // the files are part of the program
		}
	}
	return hex.EncodeToString(sum.Sum(nil))
}
