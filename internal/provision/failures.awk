# Prints the last lines of each test that failed, from the output of `go test -v`. CI's log is often read from its end, and
# the tests that failed are seldom the last.
/^=== (RUN|NAME|CONT) / { test = $3; next }
/^(ok|FAIL)[ \t]/ { delete count; test = "" }
/^ *--- FAIL: / {
	for (i = count[$3] > 40 ? count[$3] - 40 : 0; i < count[$3]; i++) print line[$3, i]
	print
}
/DATA RACE|^panic: / { follow = 30 }
follow-- > 0 || /^FAIL[ \t]/ { print }
test != "" && !/^ *---/ { line[test, count[test]++] = substr($0, 1, 1000) }
