# Prints the last lines of each failed test in the output of `go test -v`, because people read a log
# of CI from its end, and failed tests are seldom there. A data race fails all tests that run at the
# time, so it is printed after them, without the lines about Go's own files.
/^=== (RUN|NAME|CONT) / { test = $3; next }
/^(ok|FAIL)[ \t]/ { delete count; test = "" }
/^ *--- FAIL: / {
	for (i = count[$3] > 40 ? count[$3] - 40 : 0; i < count[$3]; i++) print line[$3, i]
	print
}
/^WARNING: DATA RACE/ { racing = 1 }
/^==================/ { racing = 0 }
racing && !/^ +\/usr\// { races = races substr($0, 1, 1000) "\n" }
/^panic: / { follow = 30 }
follow-- > 0 || /^FAIL[ \t]/ { print }
test != "" && !/^ *---/ { line[test, count[test]++] = substr($0, 1, 1000) }
END { printf "%s", races }
