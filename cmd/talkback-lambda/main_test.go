package main

import "testing"

func TestTableName(t *testing.T) {
	for _, row := range []struct {
		value string
		set   bool
		want  string
		why   string
	}{
		{"", false, "comments", "not set"},
		{"reviews", true, "reviews", "a name"},
		{"", true, "", "a template that filled in nothing must not select the default table"},
		{" ", true, "", "spaces"},
	} {
		if got, err := tableName(row.value, row.set); got != row.want || (err == nil) != (row.want != "") {
			t.Errorf("%s: %q, %v, want %q", row.why, got, err, row.want)
		}
	}
}
