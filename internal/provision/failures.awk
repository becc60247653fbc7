# Prints the last lines of each test that failed, from the output of `go test -v`. CI's log is often read from its end, and
# the tests that failed are seldom the last. A race fails all tests that run at its time, so it comes after them, without where
# in Go's own files it was.
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
