package layout

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/talkback/talkback/comment"
)

// mediaText returns media as stored in attrPictures, a line for each, such as "2024/kettle.jpg
// 1600x1200 a kettle". Size and alternative text follow the path if either is known.
func mediaText(all []comment.Media) string {
	lines := make([]string, len(all))
	for i, m := range all {
		lines[i] = m.Path
		if m.Width > 0 || m.Alt != "" {
			lines[i] += fmt.Sprintf(" %dx%d", m.Width, m.Height)
		}
		if m.Alt != "" {
			lines[i] += " " + m.Alt
		}
	}
	return strings.Join(lines, "\n")
}

// media parses the result of mediaText.
func (r *Reader) media() []comment.Media {
	if !r.has(attrPictures) {
		return nil
	}
	var all []comment.Media
	for line := range strings.SplitSeq(r.Text(attrPictures), "\n") {
		path, rest, sized := strings.Cut(line, " ")
		size, alt, _ := strings.Cut(rest, " ")
		m := comment.Media{Path: path, Alt: alt}
		if sized {
			width, height, _ := strings.Cut(size, "x")
			var wrong, wrongToo error
			m.Width, wrong = strconv.Atoi(width)
			m.Height, wrongToo = strconv.Atoi(height)
			if wrong != nil || wrongToo != nil {
				r.fail(attrPictures)
			}
		}
		all = append(all, m)
	}
	if comment.CheckMedia(all) != nil {
		r.fail(attrPictures)
	}
	return all
}
