package moderation

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// Limits of a file of words. Within them, a decision takes milliseconds at most.
const (
	maxWords     = 10_000
	maxWordRunes = 64
	maxWordBytes = 1 << 20 // of the file
)

// wordList finds words in texts. Each word has the form of spell, with the spaces that must be
// around it.
type wordList struct {
	words map[string]bool
	// lengths are the lengths in bytes of the words that begin alike, ascending.
	lengths map[beginning][]int
}

// beginning is the first letter of a word, and whether a space must stand before it.
type beginning struct {
	space bool
	first rune
}

func beginningOf(spelt string) beginning {
	word, space := strings.CutPrefix(spelt, " ")
	first, _ := utf8.DecodeRuneInString(word)
	return beginning{space, first}
}

// in reports whether a plain text holds a word of the list.
func (l *wordList) in(plain string) bool {
	text := spell(fold(plain))
	for at := range text {
		for _, length := range l.lengths[beginningOf(text[at:])] {
			if at+length <= len(text) && l.words[text[at:at+length]] {
				return true
			}
		}
	}
	return false
}

// parseWords reads one word or phrase a line. Errors begin with the name of the file and the line.
func parseWords(name string, text []byte) (*wordList, error) {
	list := &wordList{words: map[string]bool{}, lengths: map[beginning][]int{}}
	n := 0
	for line := range bytes.Lines(text) {
		n++
		word := strings.TrimSpace(string(line))
		if word == "" || strings.HasPrefix(word, "#") {
			continue
		}
		if err := list.add(word); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", name, n, err)
		}
	}
	if len(list.words) == 0 {
		return nil, fmt.Errorf("%s holds no words: write one on each line, or remove wordsFile from the rules", name)
	}
	return list, nil
}

// add adds a word of the file. A star at its end matches any ending.
func (l *wordList) add(word string) error {
	if !utf8.ValidString(word) {
		return fmt.Errorf("the word is not valid UTF-8: save the file as UTF-8")
	}
	stem, begins := strings.CutSuffix(fold(plain(word)), "*")
	first, _ := utf8.DecodeRuneInString(stem)
	last, _ := utf8.DecodeLastRuneInString(stem)
	if stem == "" || kindOf(first) == between || kindOf(last) == between {
		return fmt.Errorf("%.40q must begin and end with a letter, a digit or an emoji, as other characters separate words; a star may follow", word)
	}
	if strings.Contains(stem, "*") {
		return fmt.Errorf("%.40q has a star within: it can only stand at the end, for any ending", word)
	}
	if length := utf8.RuneCountInString(stem); length > maxWordRunes {
		return fmt.Errorf("the word has %d characters; at most %d are taken", length, maxWordRunes)
	}
	// There need be no space in the text beside a character of a script without spaces, nor after a
	// word that may have any ending.
	spelt := spell(stem)
	if kindOf(first) == unspaced {
		spelt = strings.TrimPrefix(spelt, " ")
	}
	if begins || kindOf(last) == unspaced {
		spelt = strings.TrimSuffix(spelt, " ")
	}
	l.words[spelt] = true
	key := beginningOf(spelt)
	if at, found := slices.BinarySearch(l.lengths[key], len(spelt)); !found {
		l.lengths[key] = slices.Insert(l.lengths[key], at, len(spelt))
	}
	if len(l.words) > maxWords {
		return fmt.Errorf("there are more than %d words: remove some", maxWords)
	}
	return nil
}
