package layout

import (
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/internal/commenttest"
)

// checkText stores a text and reads it back.
func checkText(t interface{ Fatalf(string, ...any) }, text string) types.AttributeValue {
	stored := storedText(text)
	got, err := readText(stored)
	if err != nil || got != text {
		t.Fatalf("%.40q of %d bytes reads back as %.40q of %d bytes, %v", text, len(text), got, len(got), err)
	}
	if short, ok := stored.(*types.AttributeValueMemberB); ok && len(short.Value)+minSaved > len(text) {
		t.Fatalf("%.40q of %d bytes is %d bytes", text, len(text), len(short.Value))
	}
	return stored
}

// readText returns the text of an attribute value.
func readText(stored types.AttributeValue) (string, error) {
	plain, short := NewReader(Item{AttrText: stored}).TextOrBinary(AttrText)
	c, err := Compressed{Comment: comment.Comment{Text: plain}, CompressedText: short}.Decompress()
	return c.Text, err
}

// A text is stored compressed if that saves at least minSaved bytes.
func TestFormOfATextIsTheShorter(t *testing.T) {
	r := commenttest.Rand(t)
	for _, row := range []struct {
		why, text  string
		compressed bool
	}{
		{"empty", "", false},
		{"short", "Lovely.", false},
		{"short, of one letter", strings.Repeat("x", minSaved), false},
		{"without repetitions", anyOf(r, 200), false},
		{"a sentence", "It boils fast, and it is quiet.", false},
		{"two sentences", "It boils fast, and it is quiet. The handle stays cool, and it pours well.", true},
		{"a sentence twice", strings.Repeat("It boils fast, and it is quiet. ", 2), true},
		{"letters that are rare in any language", "{}[]|^~`\\<>@#$%&*_+={}[]|^~`\\<>@#$%&*_+=", false},
		{"the largest, of one letter", strings.Repeat("x", comment.MaxTextBytes), true},
		{"the largest, without repetitions", anyOf(r, comment.MaxTextBytes), true},
		{"the largest, of few letters", strings.Repeat("ab c", comment.MaxTextBytes/4), true},
	} {
		stored := checkText(t, row.text)
		if _, compressed := stored.(*types.AttributeValueMemberB); compressed != row.compressed {
			t.Errorf("%s: stored as %T", row.why, stored)
		}
	}
}

// anyOf returns random ASCII characters. Compression stores a long one in seven eighths of its
// bytes. UTF-8 allows no long text without any redundancy, since not all byte values are equally
// frequent.
func anyOf(r *rand.Rand, size int) string {
	out := make([]byte, size)
	for i := range out {
		out[i] = byte(r.IntN(0x80))
	}
	return string(out)
}

// A text that decompresses to more than MaxTextBytes is refused.
func TestTextThatExpandsTooFar(t *testing.T) {
	bomb := compressText(strings.Repeat("x", comment.MaxTextBytes+1))
	if text, err := readText(Binary(bomb)); !errors.Is(err, errTooLarge) || text != "" {
		t.Errorf("%d bytes, %v", len(text), err)
	}
}

// A damaged text is an error that names the comment and holds nothing of the text.
func TestDamagedTexts(t *testing.T) {
	c := commenttest.Random(commenttest.Rand(t), "42")
	c.Text = strings.Repeat("private words, and again private words; ", 5)
	good := Encode(c)
	short := good[AttrText].(*types.AttributeValueMemberB).Value
	for why, bad := range map[string][]byte{"cut": short[:len(short)-1], "other format": []byte("private words")} {
		good[AttrText] = &types.AttributeValueMemberB{Value: bad}
		_, err := Decode(good)
		if err == nil || !strings.Contains(err.Error(), string(c.ID)) || strings.Contains(err.Error(), "private") {
			t.Errorf("%s: %v, want an error that names %s", why, err, c.ID)
		}
	}
}
