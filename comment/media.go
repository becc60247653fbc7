package comment

import (
	"cmp"
	"net/url"
	"path"
	"strings"
)

// Bounds of the media of a comment.
const (
	// MaxMedia bounds the pictures and videos of a comment.
	MaxMedia = 8
	// maxMediaPath bounds a Media.Path, in bytes; it is ASCII.
	maxMediaPath = 200
	// maxMediaSide bounds the width and the height, in pixels.
	maxMediaSide = 20_000
	// maxMediaAlt bounds a Media.Alt, in characters.
	maxMediaAlt = 200
)

// Media is a picture or a video of a comment. The shop stores the file, below its MediaBase.
type Media struct {
	// Path is the address below the MediaBase, such as "2024/kettle.jpg".
	Path string `json:"path"`
	// Width and Height are in pixels, both 0 if they are not known.
	Width  int `json:"width,omitempty"`
	Height int `json:"height,omitempty"`
	// Alt is a text in place of the picture for those who do not see it, empty for none.
	Alt string `json:"alt,omitempty"`
}

// MediaKind says how media are shown.
type MediaKind string

// The kinds: a closed list.
const (
	// Picture is a still or moving picture without sound.
	Picture MediaKind = "PICTURE"
	Video   MediaKind = "VIDEO"
)

// kindOfExtension lists the extensions of formats that every browser shows. None of them can hold
// scripts, as SVG can.
var kindOfExtension = map[string]MediaKind{
	".jpg": Picture, ".jpeg": Picture, ".png": Picture, ".webp": Picture, ".gif": Picture, ".avif": Picture,
	".mp4": Video, ".webm": Video,
}

// Kind returns the kind by the extension of the path, empty for an unknown extension.
func (m Media) Kind() MediaKind { return kindOfExtension[strings.ToLower(path.Ext(m.Path))] }

// WidthOrNil returns the width, nil if it is not known.
func (m Media) WidthOrNil() *int { return orNil(m.Width) }

// HeightOrNil returns the height, nil if it is not known.
func (m Media) HeightOrNil() *int { return orNil(m.Height) }

// Check returns a BadInput error unless comments can have the media.
func (m Media) Check() error {
	return cmp.Or(
		refuse(len(m.Path) > maxMediaPath, "the address has %d characters below the prefix of --media-base; at most %d are kept", len(m.Path), maxMediaPath),
		refuse(!isMediaPath(m.Path), "the address may hold letters and digits of ASCII and -._~@+=, in parts between slashes, none of them empty, . or .."),
		refuse(m.Kind() == "", "the address has to end with the extension of a picture (jpg, jpeg, png, webp, gif, avif) or of a video (mp4, webm)"),
		refuse((m.Width == 0) != (m.Height == 0) || min(m.Width, m.Height) < 0 || max(m.Width, m.Height) > maxMediaSide,
			"width and height are 1 to %d pixels, or both are left out", maxMediaSide),
		refuse(strings.ContainsAny(m.Alt, "\n\t"), "the alternative text holds a newline or a tab: it is one line"),
		refuse(len([]rune(m.Alt)) > maxMediaAlt, "the alternative text has more than %d characters", maxMediaAlt),
		checkText("alternative text", m.Alt, 0, 4*maxMediaAlt),
	)
}

// isMediaPath reports whether every program resolves the path to an address below a MediaBase. It
// has no character that is escaped or separates parts of a URL, and no part that leads upwards.
func isMediaPath(path string) bool {
	unsafe := func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("-._~@+=,", r)
	}
	for part := range strings.SplitSeq(path, "/") {
		if part == "" || part == "." || part == ".." || strings.ContainsFunc(part, unsafe) {
			return false
		}
	}
	return true
}

// CheckMedia returns a BadInput error unless a comment can have all these media.
func CheckMedia(all []Media) error {
	if len(all) > MaxMedia {
		return Errorf(BadInput, "there are %d pictures and videos; a comment has at most %d", len(all), MaxMedia)
	}
	for _, m := range all {
		if err := m.Check(); err != nil {
			return err
		}
	}
	return nil
}

// MediaBase is the prefix of the addresses of media, such as "https://media.shop.example/reviews/".
// An empty MediaBase allows no media.
type MediaBase string

// ParseMediaBase parses a prefix. It adds the slash at the end if that is missing.
func ParseMediaBase(text string) (MediaBase, error) {
	base := strings.TrimSuffix(text, "/") + "/"
	u, err := url.Parse(base)
	notInHost := func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9') && !strings.ContainsRune("-.:", r)
	}
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Hostname() == "" || strings.ContainsFunc(u.Host, notInHost) || u.Scheme+"://"+u.Host+u.Path != base {
		return "", Errorf(BadInput, "the prefix of media is https://, a host in lower case and perhaps a path, such as https://media.shop.example/reviews/")
	}
	if below := strings.Trim(u.Path, "/"); below != "" && !isMediaPath(below) {
		return "", Errorf(BadInput, "the path of the prefix of media may hold letters and digits of ASCII and -._~@+=, in parts between slashes")
	}
	return MediaBase(base), nil
}

// UnmarshalText reads a prefix, as ParseMediaBase does.
func (b *MediaBase) UnmarshalText(text []byte) (err error) {
	*b, err = ParseMediaBase(string(text))
	return err
}

// Address returns the address of media.
func (b MediaBase) Address(m Media) string { return string(b) + m.Path }

// Origin returns the scheme and the host, as a Content-Security-Policy names them; empty without a
// prefix.
func (b MediaBase) Origin() string {
	u, err := url.Parse(string(b))
	if err != nil || b == "" {
		return ""
	}
	return u.Scheme + "://" + u.Host
}

// Below returns the media at an address. It returns a BadInput error unless the address begins with
// the prefix, character by character.
func (b MediaBase) Below(address string) (Media, error) {
	below, found := strings.CutPrefix(address, string(b))
	switch {
	case b == "":
		return Media{}, Errorf(BadInput, "no addresses of pictures and videos are taken here: --media-base PREFIX allows those below a prefix")
	case !found:
		return Media{}, Errorf(BadInput, "the address has to begin with %s, the prefix of --media-base", b)
	}
	return Media{Path: below}, nil
}

// MediaDraft is a picture or a video of a comment to be written, not yet checked.
type MediaDraft struct {
	// URL is the whole address.
	URL string
	// Width and Height are in pixels, nil if they are not known.
	Width, Height *int
	// Alt is a text in place of the picture, nil or blank for none.
	Alt *string
}

// media checks a draft, and returns the media below a prefix. An error comes with the name of the
// field that it is about.
func (d MediaDraft) media(base MediaBase) (m Media, field string, err error) {
	if m, err = base.Below(d.URL); err == nil {
		err = m.Check()
	}
	if err != nil {
		return m, "url", err
	}
	if (d.Width == nil) != (d.Height == nil) || d.Width != nil && min(*d.Width, *d.Height) < 1 {
		return m, "width", Errorf(BadInput, "width and height are 1 to %d pixels, or both are left out", maxMediaSide)
	}
	if d.Width != nil {
		m.Width, m.Height = *d.Width, *d.Height
	}
	if err = m.Check(); err != nil {
		return m, "width", err
	}
	m.Alt = TextOrNone(d.Alt)
	return m, "alt", m.Check()
}
