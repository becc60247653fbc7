package web

import (
	"bytes"
	_ "embed"
	"html/template"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"github.com/talkback/talkback/docs/guide"
)

// guides is the path of the guides.
const guides = "/docs/guide/"

//go:embed home/guide.html
var guideText string

var guideTemplate = template.Must(template.New("guide").Parse(guideText))

// guideNames returns the names of the guides, without their extension.
func guideNames() (names []string) {
	for _, pattern := range []string{"*.md", "*/*.md"} {
		for _, file := range mustHave(fs.Glob(guide.Files, pattern)) {
			names = append(names, strings.TrimSuffix(file, ".md"))
		}
	}
	return names
}

// guideLinks returns links to the guides, sorted by their headings.
var guideLinks = sync.OnceValue(func() (links []link) {
	for _, name := range guideNames() {
		heading, _, _ := strings.Cut(string(guideOf(name)), "\n")
		links = append(links, link{strings.TrimPrefix(heading, "# "), guides + name})
	}
	slices.SortFunc(links, func(a, b link) int { return strings.Compare(a.Text, b.Text) })
	return links
})

func guideOf(name string) []byte { return mustHave(guide.Files.ReadFile(name + ".md")) }

// guidePages returns the pages of the guides by their paths. Each is made at its first request.
func guidePages() map[string]*asset {
	pages := map[string]*asset{}
	for _, l := range guideLinks() {
		name := strings.TrimPrefix(l.Address, guides)
		source := guideOf(name)
		page := namedAsset("guide.html", append([]byte(guideText), source...), homePolicy, mustAsk)
		page.unpacked = sync.OnceValue(func() []byte {
			markdown := goldmark.New(
				goldmark.WithExtensions(extension.Table),
				goldmark.WithParserOptions(parser.WithAutoHeadingID(), parser.WithASTTransformers(util.Prioritized(served(path.Dir(name)), 0))),
			)
			var article, page bytes.Buffer
			if err := markdown.Convert(source, &article); err != nil {
				panic(err) // a buffer returns no error
			}
			if err := guideTemplate.Execute(&page, struct {
				Title   string
				Article template.HTML
			}{l.Text, template.HTML(article.String())}); err != nil {
				panic(err)
			}
			return page.Bytes()
		})
		page.packed = sync.OnceValue(func() []byte { return pack(page.unpacked()) })
		pages[l.Address] = page
	}
	return pages
}

// served rewrites the links of a guide in a folder. Links to other guides, and to the usual address
// of a server, lead to pages of this server. A link to a document that only the repository has
// becomes its file name, and so does a picture.
type served string

const shownAt = "http://127.0.0.1:8080"

// Transform implements parser.ASTTransformer.
func (folder served) Transform(document *ast.Document, _ text.Reader, _ parser.Context) {
	unserved := map[ast.Node]string{}
	// The walk cannot fail: nothing in it does.
	_ = ast.Walk(document, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if picture, is := n.(*ast.Image); is {
			unserved[n] = path.Join("docs/guide", string(folder), string(picture.Destination))
		}
		l, is := n.(*ast.Link)
		if !is || !entering {
			return ast.WalkContinue, nil
		}
		file, fragment, _ := strings.Cut(string(l.Destination), "#")
		name := path.Join(string(folder), strings.TrimSuffix(file, ".md"))
		switch {
		case file == "" || strings.Contains(file, ":"):
			l.Destination = bytes.TrimPrefix(l.Destination, []byte(shownAt))
		case slices.Contains(guideNames(), name):
			l.Destination = []byte(strings.TrimSuffix(guides+name+"#"+fragment, "#"))
		default:
			unserved[l] = path.Join("docs/guide", string(folder), file)
		}
		return ast.WalkContinue, nil
	})
	for l, file := range unserved {
		parent := l.Parent()
		for child := l.FirstChild(); child != nil; child = l.FirstChild() {
			parent.InsertBefore(parent, l, child)
		}
		parent.ReplaceChild(parent, l, ast.NewString([]byte(" ("+file+")")))
	}
}
