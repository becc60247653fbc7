package product

import (
	"bytes"
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

// templates holds, for each language, a function that reads the templates with its texts at its first
// call.
var templates = func() map[string]func() *template.Template {
	all := map[string]func() *template.Template{}
	for _, t := range translations {
		all[t.lang] = sync.OnceValue(func() *template.Template { return readTemplates(t) })
	}
	return all
}()

// readTemplates reads the embedded templates, which say the texts of a language.
func readTemplates(t *texts) *template.Template {
	all := template.New("").Funcs(template.FuncMap{"say": func(key string) string { return t.say(key) }})
	for _, name := range []string{"element", "page"} {
		content, err := templateFiles.ReadFile("template/" + name + ".html")
		if err != nil {
			panic(err) // the files are part of the program
		}
		template.Must(all.Parse(joinLines(string(content))))
	}
	return all
}

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

// executed returns what one of the embedded templates makes of a page, or of an element.
func executed(t *texts, name string, shown any) []byte {
	var out bytes.Buffer
	if err := templates[t.lang]().ExecuteTemplate(&out, name, shown); err != nil {
		panic(err) // the templates are tested with everything that a view can have
	}
	return out.Bytes()
}
