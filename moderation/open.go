package moderation

import (
	"errors"
	"fmt"
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
		return Policy{}, fmt.Errorf("--moderation-rules: %w", err)
	}
	r, err := parseRules(path, text)
	return Policy{rules: r}, err
}
