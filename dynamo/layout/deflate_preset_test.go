package layout

import (
	"cmp"
	"encoding/base64"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/internal/sample"
)

var makePrefixes = flag.Bool("prefixes", false, "write deflate_prefixes.txt anew; texts that are stored become unreadable")

// TestMakePrefixes makes the preset codes from the letter frequencies of texts of our own: the
// sample's comments, and testdata for further languages.
func TestMakePrefixes(t *testing.T) {
	if !*makePrefixes {
		t.Skip("codes that texts are stored with never change")
	}
	texts := map[string][]string{}
	n := 0
	for c := range sample.Comments() {
		name := string(c.Language)
		texts[name] = append(texts[name], c.Text)
		if n++; n == 3000 {
			break
		}
	}
	files, _ := filepath.Glob("testdata/*.txt")
	for _, file := range files {
		text := must.Get(os.ReadFile(file))(t)
		name := strings.TrimSuffix(filepath.Base(file), ".txt")
		texts[name] = append(texts[name], strings.Split(strings.TrimSpace(string(text)), "\n")...)
	}
	var names []string
	for name := range texts {
		names = append(names, name)
	}
	slices.Sort(names)
	var out strings.Builder
	for i, name := range names {
		fmt.Fprintln(&out, i, name, base64.StdEncoding.EncodeToString(train(texts[name]).prefix))
	}
	must.Do(t, os.WriteFile("deflate_prefixes.txt", []byte(out.String()), 0o644))
}

// train returns the best code for texts.
func train(texts []string) *presetCode {
	literals := make([]float64, numLiterals)
	distances := make([]float64, numDistances)
	for _, text := range texts {
		for i := range len(text) {
			literals[text[i]]++
		}
		literals[endOfText]++
	}
	c := codeOf(smoothed(literals, distances))
	b := &blockWriter{}
	for range 4 {
		clear(literals)
		clear(distances)
		for _, text := range texts {
			if len(text) > maxBlock || len(text) == 0 {
				continue
			}
			b.search(c, text)
			b.turn(len(text))
			for at := 0; at < len(text); at += int(b.steps[at].length) {
				s := b.steps[at]
				if s.length == 1 {
					literals[text[at]]++
					continue
				}
				symbol, _, _ := lengthSymbol(int(s.length))
				literals[symbol]++
				symbol, _, _ = distanceSymbol(int(s.distance))
				distances[symbol]++
			}
			literals[endOfText]++
		}
		c = codeOf(smoothed(literals, distances))
	}
	return c
}

// smoothed adds small weights, since any symbol may occur in a text.
func smoothed(literals, distances []float64) (l, d []float64) {
	l, d = make([]float64, numLiterals), make([]float64, numDistances)
	sum := func(of []float64) (s float64) {
		for _, x := range of {
			s += x
		}
		return max(s, 1)
	}
	add := func(weight float64, from, to int) {
		for i := from; i <= to; i++ {
			l[i] += weight
		}
	}
	for i, x := range literals {
		l[i] = 1e6 * x / sum(literals)
	}
	add(300, ' ', '~')
	add(1000, 'a', 'z')
	add(200, 'A', 'Z')
	add(2000, '\n', '\n')
	add(5, '\t', '\t')
	add(5, '\r', '\r')
	add(100, 0x80, 0xbf)
	add(50, 0xc2, 0xf4)
	add(1000, 0xf0, 0xf0)
	add(1000, 0x9f, 0x9f)
	add(1000, 0xe2, 0xe2)
	add(1000, 0x80, 0x80)
	add(1000, '!', '!')
	add(1000, ' ', ' ')
	add(2000, endOfText, endOfText)
	for i := range 29 {
		l[endOfText+1+i] += 3000 / float64(1+i)
	}
	for i, x := range distances {
		d[i] = 1e6*x/sum(distances) + 5000
		if i < 10 {
			d[i] += 5000
		}
	}
	return l, d
}

func codeOf(literals, distances []float64) *presetCode {
	return newPresetCode(prefixOf(slices.Concat(shortest(literals), shortest(distances))))
}

// shortest returns the lengths of the best words with at most maxBits, by package-merge.
func shortest(weights []float64) []uint8 {
	type parcel struct {
		weight  float64
		symbols []int
	}
	var single, parcels []parcel
	for symbol, weight := range weights {
		if weight > 0 {
			single = append(single, parcel{weight, []int{symbol}})
		}
	}
	for range maxBits {
		merged := slices.Clone(single)
		for pair := range slices.Chunk(parcels, 2) {
			if len(pair) == 2 {
				merged = append(merged, parcel{pair[0].weight + pair[1].weight, slices.Concat(pair[0].symbols, pair[1].symbols)})
			}
		}
		slices.SortStableFunc(merged, func(a, b parcel) int { return cmp.Compare(a.weight, b.weight) })
		parcels = merged
	}
	lengths := make([]uint8, len(weights))
	for _, p := range parcels[:2*len(single)-2] {
		for _, symbol := range p.symbols {
			lengths[symbol]++
		}
	}
	return lengths
}

// prefixOf returns the prefix of the code with these lengths.
func prefixOf(lengths []uint8) []byte {
	w := &bitWriter{}
	for range 3 {
		w.write(0b010, 3)
		w.write(0, 7)
	}
	w.write(0b101, 3)
	w.write(numLiterals-257, 5)
	w.write(numDistances-1, 5)
	w.write(19-4, 4)
	for i := range 19 {
		if i < 3 {
			w.write(0, 3) // no repetitions of lengths
		} else {
			w.write(4, 3)
		}
	}
	for _, n := range lengths {
		for bit := range 4 {
			w.write(uint32(n>>(3-bit))&1, 1)
		}
	}
	return w.close()
}
