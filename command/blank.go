package command

import (
	"os"
	"reflect"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// refuseBlank refuses a flag or an environment variable that is set to nothing or to spaces. Empty
// means off for most flags: TALKBACK_MODERATOR_TOKEN=$(cat missing) would let everyone write. A
// flag takes precedence over its variable here too.
func refuseBlank(chosen *kong.Context) error {
	for _, flag := range chosen.Flags() {
		given := slices.ContainsFunc(chosen.Path, func(p *kong.Path) bool { return p.Flag == flag })
		if given && isBlank(flag.Target) {
			return usagef("--%s is given without a value: give one, or leave the flag out", flag.Name)
		}
		if err := refuseBlankVariable(flag); !given && err != nil {
			return err
		}
	}
	return nil
}

// refuseBlankVariable refuses a flag whose environment variable is set to nothing or to spaces.
func refuseBlankVariable(flag *kong.Flag) error {
	for _, name := range flag.Envs {
		if text, set := os.LookupEnv(name); set && strings.TrimSpace(text) == "" {
			return usagef("%s is set but empty: give it a value (if a command or a secret fills it in, find out why that is empty), or unset it", name)
		}
	}
	return nil
}

// isBlank reports whether the value of a flag is a blank text or an empty list.
func isBlank(value reflect.Value) bool {
	switch value.Kind() {
	case reflect.String:
		return strings.TrimSpace(value.String()) == ""
	case reflect.Slice:
		return value.Len() == 0
	}
	return false
}

// variableOf returns the text of a flag's environment variable, "" if it has none.
func variableOf(flag *kong.Flag) string {
	for _, name := range flag.Envs {
		if text, set := os.LookupEnv(name); set {
			return text
		}
	}
	return ""
}
