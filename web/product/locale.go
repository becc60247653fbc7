package product

import (
	"math"
	"strconv"
	"strings"
	"time"
)

// locale is how a language writes numbers and days, as Intl of browsers does it.
type locale struct {
	group, point string // between thousands, and before decimals
	grouped      int    // the smallest number that is written with group
	day          string // a day with {d}, {m} and {y}, such as "{d} {m} {y}" for "31 May 2024"
	months       string // the names that {m} stands for
}

// Numbers in Arabic have the digits of the other languages, as most shops write them.
var locales = map[string]locale{
	"en": {",", ".", 1_000, "{d} {m} {y}", "January February March April May June July August September October November December"},
	"ar": {",", ".", 1_000, "{d} {m} {y}", "يناير فبراير مارس أبريل مايو يونيو يوليو أغسطس سبتمبر أكتوبر نوفمبر ديسمبر"},
	"de": {".", ",", 1_000, "{d}. {m} {y}", "Januar Februar März April Mai Juni Juli August September Oktober November Dezember"},
	"es": {".", ",", 10_000, "{d} de {m} de {y}", "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre"},
	"fr": {"\u202f", ",", 1_000, "{d} {m} {y}", "janvier février mars avril mai juin juillet août septembre octobre novembre décembre"},
	"it": {".", ",", 10_000, "{d} {m} {y}", "gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre"},
	"ja": {",", ".", 1_000, "{y}年{m}月{d}日", "1 2 3 4 5 6 7 8 9 10 11 12"},
	"nl": {".", ",", 1_000, "{d} {m} {y}", "januari februari maart april mei juni juli augustus september oktober november december"},
	"pl": {"\u00a0", ",", 10_000, "{d} {m} {y}", "stycznia lutego marca kwietnia maja czerwca lipca sierpnia września października listopada grudnia"},
	"pt": {".", ",", 1_000, "{d} de {m} de {y}", "janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro"},
	"sv": {"\u00a0", ",", 1_000, "{d} {m} {y}", "januari februari mars april maj juni juli augusti september oktober november december"},
	"zh": {",", ".", 1_000, "{y}年{m}月{d}日", "1 2 3 4 5 6 7 8 9 10 11 12"},
}

// number writes a whole number.
func (l locale) number(n int) string {
	text := strconv.Itoa(n)
	if n < l.grouped {
		return text
	}
	for end := len(text) - 3; end > 0; end -= 3 {
		text = text[:end] + l.group + text[end:]
	}
	return text
}

// tenths rounds to tenths as browsers do: a half is rounded up.
func tenths(x float64) int { return int(math.Floor(float64(x*10) + .5)) }

// decimal writes tenths with one decimal.
func (l locale) decimal(tenths int) string {
	return l.number(tenths/10) + l.point + strconv.Itoa(tenths%10)
}

// rounded formats x with at most the given number of decimals, without trailing zeros.
func (l locale) rounded(x float64, decimals int) string {
	scale := math.Pow10(decimals)
	whole := int(math.Floor(float64(x*scale) + .5))
	fraction := strconv.Itoa(whole%int(scale) + int(scale))[1:]
	fraction = strings.TrimRight(fraction, "0")
	if fraction == "" {
		return l.number(whole / int(scale))
	}
	return l.number(whole/int(scale)) + l.point + fraction
}

// date writes a day in UTC, such as "31 May 2024".
func (l locale) date(at time.Time) string {
	at = at.UTC()
	month := strings.Fields(l.months)[at.Month()-1]
	return strings.NewReplacer("{d}", strconv.Itoa(at.Day()), "{m}", month, "{y}", strconv.Itoa(at.Year())).Replace(l.day)
}
