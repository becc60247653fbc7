package edge

import (
	"strconv"
	"strings"
)

// Weight returns the weight that headers such as Accept and Accept-Encoding give to a name, such as
// "application/json" or "gzip", whose parameters do not count: from 0 to 1, by the most specific
// entry. It also reports whether that entry has the name itself, in place of a star. Malformed
// entries are skipped.
func Weight(lists []string, offered string) (q float64, named bool) {
	offered, _, _ = strings.Cut(offered, ";")
	kind, _, _ := strings.Cut(offered, "/")
	const exact = 3
	specific := 0
	for _, list := range lists {
		for entry := range strings.SplitSeq(list, ",") {
			name, parameters, _ := strings.Cut(entry, ";")
			rank := 0 // how closely the entry matches the name, 0 for no match
			switch strings.ToLower(strings.TrimSpace(name)) {
			case offered:
				rank = exact
			case kind + "/*":
				rank = 2
			case "*/*", "*":
				rank = 1
			}
			if rank > specific {
				specific, q = rank, quality(parameters)
			}
		}
	}
	return q, specific == exact
}

// quality returns the weight in the parameters of an entry, 1 if there is none or it is malformed.
func quality(parameters string) float64 {
	for parameter := range strings.SplitSeq(parameters, ";") {
		name, value, _ := strings.Cut(parameter, "=")
		if !strings.EqualFold(strings.TrimSpace(name), "q") {
			continue
		}
		if q, err := strconv.ParseFloat(strings.TrimSpace(value), 64); err == nil && q >= 0 && q <= 1 {
			return q
		}
	}
	return 1
}
