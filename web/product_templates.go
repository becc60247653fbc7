package web

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"errors"
	"fmt"
	"html/template"
	"io/fs"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"golang.org/x/net/html"

	"github.com/talkback/talkback/internal/fetch"
)

//go:embed product/template
var templateFiles embed.FS

// templates holds, for each language, a function that reads the templates with its texts at its
// first call.
var templates = func() map[string]func() *template.Template {
	all := map[string]func() *template.Template{}
	for _, t := range translations {
		all[t.lang] = sync.OnceValue(func() *template.Template {
			read := template.New("").Funcs(template.FuncMap{
				"say": t.say, "number": t.number, "date": t.date, "dateTime": dateTime, "languageName": t.languageName, "ratingStars": t.ratingStars, "mediaName": t.mediaName,
			})
			for _, name := range []string{"element", "page"} {
				content := mustHave(templateFiles.ReadFile("product/template/" + name + ".html"))
				var joined strings.Builder // without line breaks and indentation
				for line := range strings.Lines(string(content)) {
					joined.WriteString(strings.TrimSpace(line))
				}
				template.Must(read.Parse(joined.String()))
			}
			return read
		})
	}
	return all
}()

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

// execute executes one of the embedded templates with the data of a page, or of an element.
func execute(t *texts, name string, data any) []byte {
	var out bytes.Buffer
	if err := templates[t.lang]().ExecuteTemplate(&out, name, data); err != nil {
		panic(err) // the templates are tested with everything that a view can have
	}
	return out.Bytes()
}

// Layout is the page of a shop, with places for the parts of product pages: a template of package
// html/template. A nil Layout has no places. Safe for concurrent use.
type Layout struct {
	template *template.Template
	source   string
	log      *slog.Logger
}

// layoutView is what a layout can use.
type layoutView struct {
	Lang    string        // of the texts, such as "de"
	Dir     string        // of the texts: "ltr" or "rtl"
	Title   string        // as it stands in Head
	Product string        // id; empty on pages that are about no product
	Name    string        // of the product, its id if the name is not known
	Head    template.HTML // elements that have to be in the head
	Content template.HTML // the heading and the comments, or what is wrong with the address
}

// places are what a layout can use, for errors.
const places = "a template may use {{.Head}}, {{.Content}}, {{.Lang}}, {{.Dir}}, {{.Title}}, {{.Product}} and {{.Name}}"

// maxLayout bounds the file of a layout, in bytes.
const maxLayout = 1 << 20

// ReadLayout reads a file and tries it with made-up pages. Errors name the file and the line.
func ReadLayout(path string, log *slog.Logger) (*Layout, error) {
	source, err := fetch.File(path, maxLayout)
	if err != nil {
		return nil, err
	}
	name := filepath.Base(path)
	if err := allowed(name, source); err != nil {
		return nil, err
	}
	parsed, err := template.New(name).Parse(string(source))
	if err != nil {
		return nil, located(err)
	}
	const head, content = "<!--the-head-->", "<!--the-content-->"
	for _, product := range []string{"42", ""} { // made-up pages: of a product, and of none
		var out bytes.Buffer
		if err := parsed.Execute(&out, layoutView{"en", "ltr", "Title", product, product, head, content}); err != nil {
			return nil, located(err)
		}
		for place, mark := range map[string]string{"Head": head, "Content": content} {
			if n := bytes.Count(out.Bytes(), []byte(mark)); n != 1 {
				return nil, fmt.Errorf("%s: {{.%s}} appears %d times on a page: it has to appear once, as an element of the page and not in an attribute", name, place, n)
			}
		}
	}
	return &Layout{parsed, string(source), log}, nil
}

// located names the file and the line first, as compilers do.
func located(err error) error {
	_, text, _ := strings.Cut(err.Error(), "template: ")
	if text == "" {
		_, text, _ = strings.Cut(err.Error(), "template:")
	}
	return errors.New(text + "; " + places)
}

// allowed returns an error for elements and attributes that browsers would refuse silently, by the
// Content-Security-Policy of product pages: inline code and style, code and style of another host,
// frames, audio and video.
func allowed(name string, source []byte) error {
	line := 1
	for z := html.NewTokenizer(bytes.NewReader(source)); z.Next() != html.ErrorToken; {
		began := line
		line += bytes.Count(z.Raw(), []byte{'\n'})
		tag := z.Token()
		if tag.Type != html.StartTagToken && tag.Type != html.SelfClosingTagToken {
			continue
		}
		if what := refused(tag); what != "" {
			return fmt.Errorf("%s:%d: browsers will refuse %s, by the policy of product pages: move it to a file of the page's own host", name, began, what)
		}
	}
	return nil
}

// neverAllowed are elements for which the policy allows no address at all.
var neverAllowed = []string{"style", "base", "iframe", "frame", "object", "embed", "audio", "video"}

// namesHost reports whether an address names a host, rather than a path only.
func namesHost(address string) bool {
	return strings.HasPrefix(address, "//") || strings.HasPrefix(address, "http:") || strings.HasPrefix(address, "https:")
}

// refused names the part of a tag that browsers refuse, empty if there is none.
func refused(tag html.Token) string {
	value := func(name string) string {
		if i := slices.IndexFunc(tag.Attr, func(a html.Attribute) bool { return a.Key == name }); i >= 0 {
			return strings.ToLower(tag.Attr[i].Val)
		}
		return ""
	}
	href, src := strings.TrimSpace(value("href")), strings.TrimSpace(value("src"))
	sheet := tag.Data == "link" && slices.Contains(strings.Fields(value("rel")), "stylesheet")
	switch {
	case slices.Contains(neverAllowed, tag.Data):
		return "the element <" + tag.Data + ">"
	case tag.Data == "script" && src == "" && !strings.Contains(value("type"), "json"):
		return "a <script> without src"
	case tag.Data == "script" && namesHost(src), sheet && namesHost(href):
		return "a <" + tag.Data + "> of another host (addresses on the page's own host name none)"
	case strings.HasPrefix(href, "javascript:"):
		return "an address that begins with javascript:"
	case strings.HasPrefix(href, "data:"), strings.HasPrefix(src, "data:"):
		return "an address that begins with data:"
	}
	for _, a := range tag.Attr {
		if a.Key == "style" || strings.HasPrefix(a.Key, "on") {
			return "the attribute " + a.Key
		}
	}
	return ""
}
