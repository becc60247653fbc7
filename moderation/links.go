package moderation

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/idna"
	"golang.org/x/net/publicsuffix"
)

// spelledDot is a dot that hides a domain from programs: "example (dot) com", "example[.]com", and,
// before the commonest endings, "example dot com".
var spelledDot = regexp.MustCompile(`(?i)\s*[\[({<]\s*(?:dot|punkt|point|punto|ponto|\.)\s*[\])}>]\s*|\s+dot\s+(com|net|org|info)\b`)

// hasLink reports whether a plain text holds a URL, an e-mail address or the name of a domain.
// Browsers read an ideographic full stop in a name as a dot.
func hasLink(plain string) bool {
	text := spelledDot.ReplaceAllString(strings.ReplaceAll(plain, "。", "."), ".$1")
	host := false // after "@", where any name is a host
	last := ' '
	for at, r := range text {
		rest := text[at+utf8.RuneLen(r):]
		switch {
		case r == ':' && isURL(last, rest), r == '.' && isWordRune(last) && endsHost(rest, host || isWeb(text[:at])):
			return true
		case r == '@':
			host = isWordRune(last) || last == '_' || last == '-' || last == '+'
		case r != '.' && r != '-' && !isWordRune(r):
			host = false
		}
		last = r
	}
	return false
}

// isURL reports whether a colon between before and rest is part of a URL.
func isURL(before rune, rest string) bool {
	host, found := strings.CutPrefix(rest, "//")
	first, _ := utf8.DecodeRuneInString(host)
	return found && (isWordRune(first) || first == '[') && unicode.IsLetter(before)
}

// isWeb reports whether a text ends with the word "www".
func isWeb(text string) bool {
	start := len(text) - len("www")
	if start < 0 || !strings.EqualFold(text[start:], "www") {
		return false
	}
	before, _ := utf8.DecodeLastRuneInString(text[:start])
	return !isWordRune(before)
}

// endsHost reports whether the text after a dot ends a host: with a top-level domain, in any case
// and script, that a path follows or that does not look like a sentence. If host is set, any name
// ends it.
func endsHost(rest string, host bool) bool {
	label := topLabel(rest)
	if len(label) < 2 {
		return false
	}
	if host {
		return true
	}
	name, _ := idna.Punycode.ToASCII(strings.ToLower(label)) // after an error, no list has it
	if _, managed := publicsuffix.PublicSuffix("x." + name); !managed {
		return false
	}
	path, slash := strings.CutPrefix(rest[len(label):], "/")
	next, _ := utf8.DecodeRuneInString(path)
	return slash && isWordRune(next) || !isSentence(label)
}

// maxLabel is the length of the longest label of a domain, in bytes.
const maxLabel = 63

// topLabel returns the label that a text begins with, "" if that is longer than labels are. A label
// of ASCII letters ends at any character but Latin letters and digits: texts in Chinese have no
// space after it, and German ones go on with a hyphen.
func topLabel(text string) string {
	ascii := text != "" && text[0] < utf8.RuneSelf
	punycode := strings.HasPrefix(text, "xn--")
	end := strings.IndexFunc(text, func(r rune) bool {
		inside := isWordRune(r) && (!ascii || r < utf8.RuneSelf || unicode.Is(unicode.Latin, r))
		return !inside && !(punycode && r == '-')
	})
	if end < 0 {
		end = len(text)
	}
	if end > maxLabel {
		return ""
	}
	return text[:end]
}

func isWordRune(r rune) bool { return unicode.In(r, unicode.L, unicode.N, unicode.M) }

// shortWords are top-level domains that are more often words after a full stop without a space, as
// in "I tried.it works".
var shortWords = map[string]bool{
	"am": true, "as": true, "at": true, "be": true, "by": true, "do": true, "in": true, "is": true,
	"it": true, "me": true, "my": true, "no": true, "so": true, "to": true, "us": true,
}

// isSentence reports whether a label is more likely the first word of a sentence, after a full stop
// without a space, than a top-level domain. Such a word has a capital or is one of shortWords.
func isSentence(label string) bool {
	switch strings.ToLower(label) {
	case "com", "net", "org":
		return false
	}
	return label != strings.ToLower(label) || shortWords[label]
}
