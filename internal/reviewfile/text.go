package reviewfile

import (
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/talkback/talkback/comment"
)

// cleanText returns the plain text of a value, which may be HTML. Lines end with LF. It removes
// control characters and surrounding space. A text that shows nothing, such as "&#8203;", is empty.
func cleanText(text string) string {
	text = plainText(text)
	if strings.Contains(text, "\r") {
		text = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(text)
	}
	if text = strings.Map(dropControl, text); comment.IsBlank(text) {
		return ""
	}
	return strings.TrimSpace(text)
}

// halfOf returns the reason for rejecting a row in which a holder, such as the text, contains half
// of a surrogate pair in some form.
func halfOf(holder, form string) string {
	return "the " + holder + " holds half of a character, " + form + " without its other half (the text may have been cut there): write the whole character, or remove the half"
}

// joinEntities replaces surrogate pairs of entities, such as &#55357;&#56832;, by their characters.
// Package html would turn each half into U+FFFD. ok is false if one half is missing.
func joinEntities(text string) (joined string, ok bool) {
	var out strings.Builder
	for {
		start := strings.Index(text, "&#")
		if start < 0 {
			out.WriteString(text)
			return out.String(), true
		}
		out.WriteString(text[:start])
		text = text[start:]
		first, length := entity(text)
		second, more := entity(text[length:])
		switch r := utf16.DecodeRune(first, second); {
		case r != unicode.ReplacementChar:
			out.WriteRune(r)
			length += more
		case utf16.IsSurrogate(first):
			return "", false
		default:
			out.WriteString(text[:length])
		}
		text = text[length:]
	}
}

var numericEntity = regexp.MustCompile(`^&#(?:[xX]([0-9a-fA-F]+)|([0-9]+));?`)

// entity returns the value of the numeric entity at the beginning of a text, 0 for none. Its length
// is at least that of the first two characters.
func entity(text string) (unit rune, length int) {
	found := numericEntity.FindStringSubmatch(text)
	if found == nil {
		return 0, min(len("&#"), len(text))
	}
	digits, base := found[1], 16
	if digits == "" {
		digits, base = found[2], 10
	}
	value, err := strconv.ParseUint(digits, base, 16)
	if err != nil {
		value = 0 // too large for a surrogate
	}
	return rune(value), len(found[0])
}

// quoted returns a name for messages, in quotes if a terminal would interpret characters of it.
func quoted(name string) string {
	if form := strconv.Quote(name); form != `"`+name+`"` {
		return form
	}
	return name
}

// cleanLine is cleanText for a single-line value, such as a headline or a name.
func cleanLine(text string) string {
	return strings.Join(strings.FieldsFunc(cleanText(text), func(r rune) bool { return r == '\n' || r == '\t' }), " ")
}

func dropControl(r rune) rune {
	if unicode.IsControl(r) && r != '\n' && r != '\t' {
		return -1
	}
	return r
}

// breaksOf is the minimum number of line breaks before and after an element: 2 means an empty line.
var breaksOf = map[atom.Atom]int{
	atom.P: 2, atom.H1: 2, atom.H2: 2, atom.H3: 2, atom.H4: 2, atom.H5: 2, atom.H6: 2, atom.Blockquote: 2, atom.Pre: 2,
	atom.Div: 1, atom.Section: 1, atom.Article: 1, atom.Ul: 1, atom.Ol: 1, atom.Li: 1, atom.Dl: 1, atom.Dt: 1, atom.Dd: 1,
	atom.Table: 1, atom.Tr: 1, atom.Hr: 1,
}

// plainText returns the text of HTML. It replaces tags by the line breaks that they imply, and
// drops scripts and styles with their content. Of one without an end, it drops only the tag: the
// rest may be the review. It resolves entities once, so that "&lt;br&gt;" becomes the text "<br>"
// and not a line break. Unknown tags stay text, as does the "<" of "a < b".
func plainText(text string) string {
	if !strings.ContainsAny(text, "<&") {
		return text
	}
	t := html.NewTokenizer(strings.NewReader(text))
	out, unended := textOfHTML{}, ""
	for {
		kind := t.Next()
		raw := string(t.Raw()) // Token invalidates it
		token := t.Token()
		switch {
		case kind == html.ErrorToken: // the end, perhaps inside something that only looks like a tag
			out.hidden = false
			out.add(html.UnescapeString(unended + raw))
			return out.String()
		case kind == html.CommentToken, kind == html.DoctypeToken:
		case kind == html.TextToken && out.hidden:
			unended = raw
		case kind == html.TextToken:
			out.add(token.Data)
		case token.DataAtom == 0:
			out.add(html.UnescapeString(raw))
		default:
			out.tag(kind, token.DataAtom)
			unended = ""
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

// add drops a line break of the source that follows the break of a tag, as in "<br />\n".
func (o *textOfHTML) add(text string) {
	if o.tagged {
		text = strings.TrimPrefix(strings.TrimPrefix(text, "\r"), "\n")
	}
	if text == "" {
		return
	}
	o.tagged = false
	o.WriteString(text)
	o.ends = len(text) - len(strings.TrimRight(text, "\n"))
}

// tag applies a tag: its line breaks, or the beginning or end of hidden content.
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
