package command

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/alecthomas/kong"
)

// valueMappers parse the values of flags. Unlike kong's own, they refuse a wrong value with an
// example of a right one instead of the name of a Go type.
func valueMappers() []kong.Option {
	return []kong.Option{
		kong.KindMapper(reflect.Int, mapper("a whole number", strconv.Atoi)),
		kong.KindMapper(reflect.Float64, mapper("a number", func(text string) (float64, error) { return strconv.ParseFloat(text, 64) })),
		kong.KindMapper(reflect.Uint32, mapper("a whole number from 0 on", func(text string) (uint32, error) {
			n, err := strconv.ParseUint(text, 10, 32)
			return uint32(n), err
		})),
		kong.NamedMapper("path", kong.MapperFunc(decodePath)),
		kong.NamedMapper("store", kong.MapperFunc(decodeStore)),
		kong.TypeMapper(reflect.TypeFor[time.Duration](), mapper("a duration", time.ParseDuration)),
		kong.TypeMapper(reflect.TypeFor[*time.Time](), mapper("a day or a time", parseMoment)),
	}
}

// mapper parses values by a function; the noun says what they are.
func mapper[T any](noun string, parse func(string) (T, error)) kong.Mapper {
	return kong.MapperFunc(func(ctx *kong.DecodeContext, target reflect.Value) error {
		token := ctx.Scan.Pop()
		if token.IsEOL() {
			return fmt.Errorf("the value is missing%s", example(ctx.Value))
		}
		text := token.String()
		value, err := parse(text)
		if err != nil {
			return fmt.Errorf("%q is not %s%s", text, noun, example(ctx.Value))
		}
		target.Set(reflect.ValueOf(value).Convert(target.Type()))
		return nil
	})
}

// decodePath parses a path like kong, but leaves a blank one for refuseBlank: kong would turn it
// into the current folder.
func decodePath(ctx *kong.DecodeContext, target reflect.Value) error {
	var path string
	if err := ctx.Scan.PopValueInto("file", &path); err != nil {
		return err
	}
	if path != "-" && strings.TrimSpace(path) != "" {
		path = kong.ExpandPath(path)
	}
	target.SetString(path)
	return nil
}

// example returns a hint at a right value, "" if the flag has none.
func example(value *kong.Value) string {
	switch {
	case value.Flag != nil && strings.ContainsAny(value.Flag.PlaceHolder, "0123456789"): // others, such as N, stand for a value
		return ": give one such as " + value.Flag.PlaceHolder
	case value.HasDefault:
		return ": give one such as " + value.Default
	}
	return ""
}

// parseMoment parses a day, which begins at midnight UTC, or a time of RFC 3339.
func parseMoment(text string) (*time.Time, error) {
	moment, err := time.Parse(time.DateOnly, text)
	if err != nil {
		moment, err = time.Parse(time.RFC3339, text)
	}
	return &moment, err
}

// checkCalls refuses a negative number of calls.
func checkCalls(calls int) error {
	if calls < 0 {
		return fmt.Errorf("--calls %d is not a number of calls: give 1 or more", calls)
	}
	return nil
}
