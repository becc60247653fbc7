package sample

import (
	"embed"
	"encoding/binary"
	"fmt"
	"io/fs"
	"math"
	"math/rand/v2"

	"github.com/talkback/talkback/comment"
)

// Shares of comments.
const (
	verifiedShare = 0.8
	picturesShare = 0.08
	votesShare    = 0.12
)

//go:embed pictures/*.webp
var pictures embed.FS

// Pictures returns the picture files. The path of each comment's media is the name of one.
func Pictures() fs.FS {
	files, err := fs.Sub(pictures, "pictures")
	if err != nil {
		panic(err) // the folder is embedded
	}
	return files
}

// addTraits adds the traits of a comment about a kind of product. A comment without text has
// neither pictures nor votes.
func addTraits(chance *rand.Rand, kind string, c *comment.Comment) {
	c.Verified = chance.Float64() < verifiedShare
	if c.Text == "" {
		return
	}
	if chance.Float64() < picturesShare {
		c.Media = photograph(chance, kind, phrasebooks()[c.Language].Kinds[kind].Pictures)
	}
	if chance.Float64() < votesShare {
		c.ImportedVotes = vote(chance, c.Rating)
		c.Votes = c.ImportedVotes
	}
}

// photograph returns some pictures of a kind of product, with the width and height from their file
// headers. alts are their alternative texts.
// https://developers.google.com/speed/webp/docs/riff_container
func photograph(chance *rand.Rand, kind string, alts []string) []comment.Media {
	const at, mask = 26, 1<<14 - 1
	taken := chance.Perm(len(alts))[:1+chance.IntN(len(alts))]
	out := make([]comment.Media, len(taken))
	for i, number := range taken {
		m := comment.Media{Path: fmt.Sprintf("%s-%d.webp", kind, 1+number)}
		file, err := pictures.ReadFile("pictures/" + m.Path)
		if err != nil {
			panic(err) // a test checks that each alternative text has a picture
		}
		m.Width = int(binary.LittleEndian.Uint16(file[at:]) & mask)
		m.Height = int(binary.LittleEndian.Uint16(file[at+2:]) & mask)
		if chance.IntN(4) > 0 { // many authors write no alternative text
			m.Alt = alts[number]
		}
		out[i] = m
	}
	return out
}

// vote returns votes about a comment: mostly a few, rarely more than a hundred. Low ratings are
// more controversial.
func vote(chance *rand.Rand, rating int) comment.VoteCounts {
	many := math.Pow(1-chance.Float64(), -.9)
	against := chance.Float64() * chance.Float64()
	if rating < 3 {
		against = min(1, 1.5*against)
	}
	return comment.VoteCounts{Helpful: int(math.Ceil(many * (1 - against))), NotHelpful: int(many * against)}
}
