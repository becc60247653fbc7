package commenttest

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/talkback/talkback/comment"
)

// Languages are the languages of random comments, the most frequent first.
var Languages = []comment.Language{"en", "de", "fr", "ja", "pt-BR", "ar"}

// Epoch is the time of the earliest random comment.
var Epoch = time.Date(2020, 2, 28, 23, 59, 50, 0, time.UTC)

// Random returns a random comment of a product. All times are within a few thousand seconds, many
// in the same millisecond. Languages and ratings are skewed, so some cells of the grid hold many
// comments and others almost none.
func Random(r *rand.Rand, product string) comment.Comment {
	created := Epoch.Add(time.Duration(r.IntN(4000)) * time.Second)
	if r.IntN(3) > 0 {
		created = created.Add(time.Duration(r.IntN(1000)) * time.Millisecond)
	}
	c := comment.Comment{
		ID:        comment.IDOf(comment.PositionAt(created, distinct(r))),
		ProductID: product,
		Rating:    skewed(r, 5, 4, 1, 2, 3),
		Language:  skewed(r, Languages...),
		Text:      randomText(r),
		Author:    comment.Author{ID: fmt.Sprint("a", r.IntN(50)), Name: "Åsa \"Q\" O'Hara"},
		Version:   1,
	}
	if r.IntN(2) == 0 {
		c.Title = new(fmt.Sprint("title ", r.IntN(1000)))
	}
	if r.IntN(5) == 0 {
		c.UpdatedAt, c.Version = new(created.Add(time.Duration(r.IntN(1e6))*time.Millisecond)), 2
	}
	c.Verified = r.IntN(3) == 0
	for range max(0, r.IntN(comment.MaxMedia*3)-2*comment.MaxMedia) { // most have none
		m := comment.Media{Path: fmt.Sprintf("%d/a~b@2x.%s", r.IntN(1000), skewed(r, "jpg", "PNG", "mp4"))}
		if r.IntN(2) == 0 {
			m.Width, m.Height = 1+r.IntN(4000), 1+r.IntN(4000)
		}
		if r.IntN(2) == 0 {
			m.Alt = skewed(r, "a kettle", " ☕ 3x4 <&> \"", "0x0", "日本語\u2028")
		}
		c.Media = append(c.Media, m)
	}
	return c
}

// randomText returns a random text. One in four is long enough to be stored compressed.
func randomText(r *rand.Rand) string {
	number := r.IntN(1e9)
	text := fmt.Sprintf("text %d ☕ <&>", number)
	if number%4 == 0 {
		text += strings.Repeat(" and so on", 12)
	}
	return text
}

// Large returns a random comment whose text has the given number of bytes. Compression saves at
// most a fifth of them.
func Large(r *rand.Rand, product string, bytes int) comment.Comment {
	c := Random(r, product)
	text := make([]byte, bytes)
	for i := range text {
		text[i] = byte(' ' + r.IntN('~'-' '+1))
	}
	c.Text = string(text)
	return c
}

// Many returns random comments of a product, all at different positions.
func Many(r *rand.Rand, product string, count int) []comment.Comment {
	out := make([]comment.Comment, count)
	for i := range out {
		out[i] = Random(r, product)
	}
	return out
}

// Voted gives comments imported votes: about half of them have none, and many have equally many.
func Voted(r *rand.Rand, comments []comment.Comment) []comment.Comment {
	for i := range comments {
		comments[i].ImportedVotes = comment.VoteCounts{Helpful: max(0, r.IntN(9)-4), NotHelpful: max(0, r.IntN(9)-6)}
		comments[i].Votes = comments[i].ImportedVotes
	}
	return comments
}

// skewed draws a value, each about half as often as the one before.
func skewed[T any](r *rand.Rand, values ...T) T {
	for _, value := range values[:len(values)-1] {
		if r.IntN(2) == 0 {
			return value
		}
	}
	return values[len(values)-1]
}

// distinct draws 80 random bits, so that no two comments get the same ones.
func distinct(r *rand.Rand) [10]byte {
	var out [10]byte
	for i := range out {
		out[i] = byte(r.Uint32())
	}
	return out
}
