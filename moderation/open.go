package moderation

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
)

// Open returns the policy of the flags --moderation, which is publish, hold or rules, and
// --moderation-rules, the path of a file that rules needs. Errors name the line and what to change.
func Open(mode, path string) (Policy, error) {
	switch {
	case mode != "publish" && mode != "hold" && mode != "rules":
		return Policy{}, fmt.Errorf("--moderation is publish, hold or rules, not %.40q", mode)
	case mode == "rules" && path == "":
		return Policy{}, errors.New("--moderation rules needs a file of rules: name it by --moderation-rules FILE")
	case mode != "rules" && path != "":
		return Policy{}, fmt.Errorf("--moderation-rules has no effect with --moderation %s: give --moderation rules, or leave the file out", mode)
	case mode != "rules":
		return Policy{always: mode == "hold"}, nil
	}
	text, err := readFile(path, maxRulesBytes)
	if err != nil {
		return Policy{}, fmt.Errorf("reading --moderation-rules: %w", err)
	}
	r, err := parseRules(path, text)
	return Policy{rules: r}, err
}

// readFile reads a file of a bounded length. It leaves out the byte order mark that some editors
// write.
func readFile(path string, most int) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	text, err := io.ReadAll(io.LimitReader(file, int64(most)+1))
	if err == nil && len(text) > most {
		return nil, fmt.Errorf("%s has more than %d bytes, which is all that is read: make it shorter", path, most)
	}
	return bytes.TrimPrefix(text, []byte("\ufeff")), err
}
