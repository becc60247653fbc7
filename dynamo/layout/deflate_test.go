package layout

import (
	"bytes"
	stdflate "compress/flate"
	"errors"
	"hash/crc32"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/internal/sample"
)

const testLimit = 256 << 10

// inflateStandard expands with the standard library, which gets the prefix first. It does not check
// that the result is text.
func inflateStandard(short []byte) (string, error) {
	if len(short) > 0 && short[0]&marker == marker {
		n := int(short[0] >> markerBits)
		if n >= len(presetCodes()) {
			return "", errDamagedText
		}
		short = slices.Concat(presetCodes()[n].prefix, short[1:])
	}
	in := bytes.NewReader(short)
	text, err := io.ReadAll(io.LimitReader(stdflate.NewReader(in), testLimit+1))
	if err == nil && len(text) <= testLimit && in.Len() > 0 {
		err = errors.New("trailing bytes")
	}
	return string(text), err
}

// checkCompressed compresses a text and expands it, also with the standard library.
func checkCompressed(t interface{ Fatalf(string, ...any) }, text string) []byte {
	short := compressText(text)
	got, err := ExpandText(short, testLimit)
	if err != nil || got != text {
		t.Fatalf("%.40q of %d bytes reads back as %.40q of %d bytes, %v", text, len(text), got, len(got), err)
	}
	if got, err := inflateStandard(short); err != nil || got != text {
		t.Fatalf("in %.40q of %d bytes, the standard library finds %.40q of %d bytes, %v", text, len(text), got, len(got), err)
	}
	return short
}

// Every text reads back unchanged, in any script, of any length, compressible or not.
func TestReadsBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(
			rapid.String(),
			rapid.StringN(0, 2000, -1),
			rapid.StringMatching(`([a-e]{1,3} ){0,200}`),
			rapid.StringMatching(`([ab]{0,900})`),
			rapid.StringMatching(`([あ-ん一-龠]{1,9}。){0,60}`),
			rapid.StringMatching(`([а-яё]{1,9} ){0,60}`),
			rapid.StringMatching(`([\x{0621}-\x{064a}]{1,9} ){0,60}`),
		).Draw(t, "text")
		checkCompressed(t, strings.Repeat(text, rapid.IntRange(1, 3).Draw(t, "times")))
	})
}

// Texts read back at the lengths and distances where symbols change, and where the encoding
// changes.
func TestReadsBackAtBounds(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for _, length := range []int{0, 1, 2, 3, 4, 10, 11, 12, 18, 19, 34, 35, 66, 67, 130, 131, 257, 258, 259, 516, 517} {
		for _, between := range []int{0, 1, 2, 3, 4, 5, 8, 9, 16, 17, 255, 256, 257, 1023, 1024, 3000, maxBlock} {
			repeated, other := anyText(r, length), anyText(r, between)
			checkCompressed(t, repeated+other+repeated)
			checkCompressed(t, strings.Repeat("x", length)+other+"xyz")
		}
	}
	for _, size := range []int{betweenBoth - 1, betweenBoth, maxBlock - 1, maxBlock, maxBlock + 1, testLimit} {
		checkCompressed(t, anyText(r, size))
		checkCompressed(t, strings.Repeat("x", size))
	}
}

// anyText returns random ASCII letters.
func anyText(r *rand.Rand, size int) string {
	out := make([]byte, size)
	for i := range out {
		out[i] = 'a' + byte(r.IntN(26))
	}
	return string(out)
}

// Typical texts are written with a code for their language, in three fifths of their size.
func TestPresetCodes(t *testing.T) {
	plain, short, preset := 0, 0, 0
	texts := usual(300)
	for _, text := range texts {
		out := checkCompressed(t, text)
		plain, short = plain+len(text), short+len(out)
		if out[0]&marker == marker {
			preset++
		}
	}
	if preset < len(texts)*95/100 || short > plain*60/100 {
		t.Errorf("%d of %d texts have a preset code; %d bytes became %d", preset, len(texts), plain, short)
	}
}

// usual returns texts of the sample that are longer than a headline.
func usual(most int) (out []string) {
	for c := range sample.Comments() {
		if len(c.Text) >= 100 {
			out = append(out, c.Text)
		}
		if len(out) == most {
			return out
		}
	}
	return out
}

// A code has a word for each byte of UTF-8 and for each length and distance, and uses all
// combinations of bits.
func TestCodesAreComplete(t *testing.T) {
	for n, c := range presetCodes() {
		for _, words := range [][]codeWord{c.literals, c.distances} {
			sum := 0
			for _, w := range words {
				if w.length > 0 {
					sum += 1 << (maxBits - w.length)
				}
			}
			if sum != 1<<maxBits {
				t.Errorf("code %d covers %d of %d", n, sum, 1<<maxBits)
			}
		}
		for _, text := range []string{"aZ09 ~\n\t", "é", "ß", "Я", "ع", "क", "か", "龠", "한", "👍", "\U0010ffff"} {
			for i := range len(text) {
				if c.literals[text[i]].length == 0 {
					t.Errorf("code %d has no word for byte %#x of %q", n, text[i], text)
				}
			}
		}
	}
}

// Stored texts need the codes that they were written with. New lines may be appended, but these
// lines never change.
func TestCodesStay(t *testing.T) {
	const lines, sum = 15, 0xa2166ff1
	var kept strings.Builder
	for n, line := range slices.Collect(strings.Lines(presetPrefixes)) {
		if n < lines {
			kept.WriteString(line)
		}
	}
	if got := crc32.ChecksumIEEE([]byte(kept.String())); got != sum {
		t.Errorf("the first %d codes have the checksum %#x, not %#x: texts of stored comments cannot be read", lines, got, uint32(sum))
	}
}

// A text that expands to more than the limit is refused before it takes much memory.
func TestExpandsTooFar(t *testing.T) {
	for _, size := range []int{testLimit + 1, 8 << 20} {
		var stream bytes.Buffer
		writer, err := stdflate.NewWriter(&stream, stdflate.BestCompression)
		must.Do(t, err)
		_, err = io.WriteString(writer, strings.Repeat("x", size))
		must.Do(t, errors.Join(err, writer.Close()))
		for why, bomb := range map[string][]byte{"stream": stream.Bytes(), "preset code": bombOf(size)} {
			if text, err := ExpandText(bomb, testLimit); !errors.Is(err, errTooLarge) || text != "" {
				t.Errorf("%s of %d bytes: %d bytes, %v", why, size, len(text), err)
			}
		}
	}
	if x := expanders.Get().(*expander); len(x.out) > 2*testLimit {
		t.Errorf("a buffer of %d bytes is kept", len(x.out))
	}
}

// bombOf compresses one letter, repeated up to a size, with a preset code.
func bombOf(size int) []byte {
	c := presetCodes()[0]
	w := bitWriter{out: []byte{marker}}
	w.word(c.literals['x'])
	for n := 1; n < size; n += maxLength {
		w.word(c.literals[numLiterals-1])
		w.word(c.distances[0])
	}
	w.word(c.literals[endOfText])
	return w.close()
}

// The buffer grows in time, wherever in it the longest repetition begins.
func TestRepetitionsGrowTheBuffer(t *testing.T) {
	c := presetCodes()[0]
	symbol, extra, extraBits := distanceSymbol(copyChunk)
	for letters := copyChunk; letters < copyChunk+maxLength; letters++ {
		w, size := bitWriter{}, letters
		for range letters {
			w.word(c.literals['x'])
		}
		for ; size < 2*usualText; size += maxLength {
			w.word(c.literals[numLiterals-1])
			w.word(c.distances[symbol])
			w.write(extra, extraBits)
		}
		w.word(c.literals[endOfText])
		x := &expander{out: make([]byte, usualText)}
		got, err := x.expandBlock(c.reader(), w.close(), testLimit)
		if err != nil || got != size || string(x.out[:got]) != strings.Repeat("x", size) {
			t.Fatalf("%d letters and repetitions: %d bytes, want %d, %v", letters, got, size, err)
		}
	}
}

// Damaged bytes are an error that holds nothing of the text.
func TestDamaged(t *testing.T) {
	text := strings.Repeat("private words, and again private words; ", 5)
	preset := compressText(text)
	stream := bytes.Clone((&compressor{}).compressStream(text))
	latin := bytes.Clone((&compressor{}).compressStream(strings.Repeat("caf\xe9 ", 40)))
	unknown := append([]byte{31<<markerBits | marker}, preset[1:]...)
	for why, bad := range map[string][]byte{
		"empty":        {},
		"other format": []byte("private words"),
		"no text":      latin,
		"unknown code": unknown,
		"only a code":  {marker},
		"far back":     farBack(),
	} {
		checkDamaged(t, why, bad)
	}
	for why, good := range map[string][]byte{"stream": stream, "preset code": preset} {
		checkDamaged(t, why+", longer", append(bytes.Clone(good), 'x'))
		for n := range good {
			checkDamaged(t, why+", cut", good[:n])
		}
	}
	for _, text := range usual(300) { // some texts lose only zeros of the last word
		short := compressText(text)
		checkDamaged(t, "cut by a byte", short[:len(short)-1])
	}
}

func checkDamaged(t *testing.T, why string, bad []byte) {
	t.Helper()
	if text, err := ExpandText(bad, testLimit); !errors.Is(err, errDamagedText) || text != "" {
		t.Errorf("%s: %.40q, %v", why, text, err)
	}
}

// farBack returns a repetition that refers to a place before the text.
func farBack() []byte {
	c := presetCodes()[0]
	w := bitWriter{out: []byte{marker}}
	w.word(c.literals['x'])
	w.word(c.literals[endOfText+1])
	w.word(c.distances[1])
	w.word(c.literals[endOfText])
	return w.close()
}

// Concurrent calls that share pooled readers and writers do not affect each other, and their
// results stay unchanged.
func TestAtOnce(t *testing.T) {
	texts := usual(100)
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			short := make([][]byte, len(texts))
			for i, text := range texts {
				short[i] = compressText(text)
			}
			for i, text := range texts {
				if got, err := ExpandText(short[i], testLimit); err != nil || got != text {
					t.Errorf("%q, %v", got, err)
				}
			}
		})
	}
	group.Wait()
}

// FuzzExpand checks that any bytes expand, or fail, as they do with the standard library.
func FuzzExpand(f *testing.F) {
	for _, text := range usual(20) {
		f.Add(compressText(text))
	}
	f.Add(bombOf(1000))
	f.Add(farBack())
	f.Fuzz(func(t *testing.T, short []byte) {
		got, err := ExpandText(short, testLimit)
		want, wantErr := inflateStandard(short)
		switch {
		case len(want) > testLimit:
			if err == nil || got != "" { // the damage may be behind the limit
				t.Errorf("%d bytes, %v, want an error", len(got), err)
			}
		case wantErr != nil || !utf8.ValidString(want):
			if !errors.Is(err, errDamagedText) || got != "" {
				t.Errorf("%q, %v; the standard library says %v", got, err, wantErr)
			}
		case err != nil || got != want:
			t.Errorf("%q, %v, want %q", got, err, want)
		}
	})
}

// FuzzCompress checks that any text reads back.
func FuzzCompress(f *testing.F) {
	for _, text := range usual(20) {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if utf8.ValidString(text) && len(text) <= testLimit {
			checkCompressed(t, text)
		}
	})
}
