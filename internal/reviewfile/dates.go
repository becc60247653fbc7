package reviewfile

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// dateLayouts are the accepted layouts of times, besides numbers. Seconds may have a fraction, and
// a T may stand between day and hour. A time without a zone is UTC, unless dateParser.zone is set.
// Numeric dates that begin with the day or the month are not accepted, since they are ambiguous.
var dateLayouts = []string{
	"2006-01-02",
	"2006-01-02 15:04:05",
	"2006-01-02 15:04:05Z07:00",
	"2006-01-02 15:04:05Z0700",
	"2006-01-02 15:04:05Z07",
	"2006-01-02 15:04:05 Z07:00",
	"2006-01-02 15:04:05 -0700",
	"2006-01-02 15:04:05 UTC",
	"2006-01-02 15:04:05 -0700 UTC",
	"2006-01-02 15:04",
	"2006-01-02 15:04Z07:00",
	"2006-01-02 15:04Z0700",
	"2006-01-02 15:04Z07",
	"2006/01/02",
	"2006/01/02 15:04:05",
	"2006/01/02 15:04",
	"2006/1/2",
	"20060102",
	"January 2, 2006",
	"Jan 2, 2006",
	"2 January 2006",
	"2 Jan 2006",
	"1 2, 2006",
}

// noOffset matches offsets that no zone has, of 24 hours or 60 minutes. Package time takes them.
var noOffset = regexp.MustCompile(`:.*[+-](24|\d\d:?60)`)

// compact matches a time of this century or the last without separators, with or without seconds.
// As milliseconds since 1970, it would be in 1976, or after 2570.
var compact = regexp.MustCompile(`^(?:19|20)\d{10}(?:\d\d)?$`)

// A number with at least this many digits is a time since 1970: in seconds or, if seconds would be
// after the year 5138, in milliseconds, microseconds or nanoseconds. Fewer are a year or a day.
const (
	minUnixDigits  = 9
	maxUnixSeconds = 1e11
)

var lastTime = time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)

// dateParser parses times. It remembers the last layout, since the next time usually has the same.
type dateParser struct {
	last int
	zone *time.Location // for times without one; nil for UTC
}

// parse returns a time from 1970 to 9999, in UTC.
func (p *dateParser) parse(text string) (time.Time, error) {
	if text == "" {
		return time.Time{}, fmt.Errorf("the date is missing")
	}
	at, ok := p.read(text)
	if !ok || noOffset.MatchString(text) {
		return time.Time{}, fmt.Errorf(`the date %.40q is not understood: write it as "2006-01-02", "2006-01-02T15:04:05Z" or seconds since 1970`, text)
	}
	if at.Before(time.Unix(0, 0)) || !at.Before(lastTime) {
		return time.Time{}, fmt.Errorf("the date %.40q is not between 1970 and 9999", text)
	}
	return at.UTC(), nil
}

// read reads a time in one of the accepted forms.
func (p *dateParser) read(text string) (at time.Time, ok bool) {
	if compact.MatchString(text) {
		at, err := p.as("20060102150405"[:len(text)], text)
		return at, err == nil
	}
	if day := len(time.DateOnly); len(text) > day && text[day] == 'T' {
		text = text[:day] + " " + text[day+1:]
	}
	at, err := p.as(dateLayouts[p.last], text)
	for i := 0; err != nil && i < len(dateLayouts); i++ {
		if at, err = p.as(dateLayouts[i], text); err == nil {
			p.last = i
		}
	}
	if err != nil {
		return parseUnix(text)
	}
	return at, true
}

// as parses a time with a layout. If the layout ends with UTC, the zone is ignored: package time
// takes UTC as plain letters.
func (p *dateParser) as(layout, text string) (time.Time, error) {
	if p.zone == nil || strings.HasSuffix(layout, "UTC") {
		return time.Parse(layout, text)
	}
	return time.ParseInLocation(layout, text, p.zone)
}

// parseUnix parses a time since 1970: a number of seconds, perhaps with a fraction, or of
// milliseconds, microseconds or nanoseconds.
func parseUnix(text string) (time.Time, bool) {
	whole, fraction, _ := strings.Cut(text, ".")
	number, err := strconv.ParseInt(whole, 10, 64)
	if err != nil || len(whole) < minUnixDigits || number < 0 {
		return time.Time{}, false
	}
	if strings.Trim(fraction, "0123456789") != "" {
		return time.Time{}, false
	}
	nanos, _ := strconv.ParseInt((fraction + "000000000")[:9], 10, 64) // nine digits
	switch {
	case number < maxUnixSeconds:
		return time.Unix(number, nanos), true
	case number < maxUnixSeconds*1e3:
		return time.UnixMilli(number), true
	case number < maxUnixSeconds*1e6:
		return time.UnixMicro(number), true
	}
	return time.Unix(0, number), true
}

// timeForm is the layout of a time, to the millisecond.
const timeForm = "2006-01-02T15:04:05.000Z"

// timeText formats a time as in lines of an export, nil for none.
func timeText(at *time.Time) *string {
	if at == nil {
		return nil
	}
	return new(at.UTC().Format(timeForm))
}

// timeOrNil parses a member's time, to the millisecond; nil for none.
func (p *dateParser) timeOrNil(name string, text *string) (*time.Time, error) {
	if text == nil {
		return nil, nil
	}
	at, err := p.parse(*text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	at = at.Truncate(time.Millisecond)
	return &at, nil
}

// needed parses a member's time, which must be present.
func (p *dateParser) needed(name string, text *string) (time.Time, error) {
	at, err := p.timeOrNil(name, text)
	switch {
	case err != nil:
		return time.Time{}, err
	case at == nil:
		return time.Time{}, fmt.Errorf("%s is missing", name)
	}
	return *at, nil
}
