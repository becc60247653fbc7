package command

import (
	"os"
	"reflect"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// refuseBlank refuses a flag, or the variable in its place, that is set to nothing or to spaces alone. Empty means off for most flags, so
// that TALKBACK_MODERATOR_TOKEN=$(cat missing) would let everyone write. A flag wins over its variable also here.
func refuseBlank(chosen *kong.Context) error {
	for _, flag := range chosen.Flags() {
		given := slices.ContainsFunc(chosen.Path, func(p *kong.Path) bool { return p.Flag == flag })
		if given && isBlank(flag.Target) {
			return usagef("--%s is given without a value: give one, or leave the flag out", flag.Name)
		}
		if name := blankVariable(flag); !given && name != "" {
			return usagef("%s is set but empty: give it a value (if a command or a secret was to fill it in, see why that found nothing), or unset it", name)
		}
	}
	return nil
}

// isBlank tells whether a flag's value is a blank text, or a list of nothing.
func isBlank(value reflect.Value) bool {
	switch value.Kind() {
	case reflect.String:
		return strings.TrimSpace(value.String()) == ""
	case reflect.Slice:
		return value.Len() == 0
	}
	return false
}

// blankVariable is the name of the variable of a flag that is set to a blank text; empty for none.
func blankVariable(flag *kong.Flag) string {
	for _, name := range flag.Envs {
		if text, set := os.LookupEnv(name); set && strings.TrimSpace(text) == "" {
			return name
		}
	}
	return ""
}
