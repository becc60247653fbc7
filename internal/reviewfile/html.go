package reviewfile

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// breaksOf are the line breaks that text on either side of an element has between it: 2 for an
// empty line.
var breaksOf = map[atom.Atom]int{
	atom.P: 2, atom.H1: 2, atom.H2: 2, atom.H3: 2, atom.H4: 2, atom.H5: 2, atom.H6: 2, atom.Blockquote: 2, atom.Pre: 2,
	atom.Div: 1, atom.Section: 1, atom.Article: 1, atom.Ul: 1, atom.Ol: 1, atom.Li: 1, atom.Dl: 1, atom.Dt: 1, atom.Dd: 1,
	atom.Table: 1, atom.Tr: 1, atom.Hr: 1,
}

// plainText returns the text of HTML: tags go, the breaks that they mean stay, scripts and styles go
// with what is in them. Entities are resolved once, so that "&lt;br&gt;" becomes the text "<br>" and
// no line break. What looks like a tag and is none of HTML's stays text, as does the "<" of "a < b".
func plainText(text string) string {
	if !strings.ContainsAny(text, "<&") {
		return text
	}
	t := html.NewTokenizer(strings.NewReader(text))
	out := textOfHTML{}
	for {
		kind := t.Next()
		raw := string(t.Raw()) // Token ends its life
		token := t.Token()
		switch {
		case kind == html.ErrorToken: // the end, perhaps within a tag that is none
			out.add(html.UnescapeString(raw))
			return out.String()
		case kind == html.CommentToken, kind == html.DoctypeToken:
		case kind == html.TextToken:
			out.add(token.Data)
		case token.DataAtom == 0:
			out.add(html.UnescapeString(raw))
		default:
			out.tag(kind, token.DataAtom)
		}
	}
}

// textOfHTML collects the text of HTML.
type textOfHTML struct {
	strings.Builder
	ends   int  // line breaks at the end of the text
	tagged bool // whether a tag made the last of them
	hidden bool // within a script or a style
}

// add adds text. A line break of the source behind the break of a tag, as in "<br />\n", is the same
// one.
func (o *textOfHTML) add(text string) {
	if o.tagged {
		text = strings.TrimPrefix(strings.TrimPrefix(text, "\r"), "\n")
	}
	if text == "" || o.hidden {
		return
	}
	o.tagged = false
	o.WriteString(text)
	o.ends = len(text) - len(strings.TrimRight(text, "\n"))
}

// tag takes the meaning of a tag.
func (o *textOfHTML) tag(kind html.TokenType, name atom.Atom) {
	if name == atom.Script || name == atom.Style {
		o.hidden = kind == html.StartTagToken
		return
	}
	most := breaksOf[name]
	if name == atom.Br {
		most = o.ends + 1
	}
	for o.Len() > 0 && o.ends < most {
		o.WriteByte('\n')
		o.ends++
		o.tagged = true
	}
}
