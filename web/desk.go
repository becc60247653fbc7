package web

import (
	"bytes"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"sync"
)

//go:embed desk/page.html desk/*.json
var deskFiles embed.FS

// deskPath is where moderators work.
const deskPath = "/moderation"

// deskLanguages are the languages of the page for moderators; the first is for readers of any
// other.
var deskLanguages = []string{"en", "de"}

var chooseDesk = newChooser(deskLanguages...)

// desks makes the page for moderators, by language, at its first call.
var desks = sync.OnceValue(func() map[string]*asset {
	all := map[string]*asset{}
	for _, lang := range deskLanguages {
		all[lang] = newDesk(lang)
	}
	return all
})

func newDesk(lang string) *asset {
	texts := mustHave(deskFiles.ReadFile("desk/" + lang + ".json"))
	words := map[string]string{}
	var compact, content bytes.Buffer
	if err := errors.Join(json.Unmarshal(texts, &words), json.Compact(&compact, texts)); err != nil {
		panic(err) // it is embedded
	}
	say := func(key string) (string, error) {
		if words[key] == "" {
			return "", fmt.Errorf("no text for %s", key)
		}
		return words[key], nil
	}
	functions := template.FuncMap{"say": say, "next": func(i int) int { return i + 1 }, "list": func(items ...string) []string { return items }}
	page := template.Must(template.New("page.html").Funcs(functions).ParseFS(deskFiles, "desk/page.html"))
	// The script of the page has all texts, as JSON, and loads the comments.
	if err := page.Execute(&content, struct{ Lang, Texts string }{lang, compact.String()}); err != nil {
		panic(err) // a text is missing
	}
	return newAsset("page.html", content.Bytes(), deskPolicy, mustAsk)
}
