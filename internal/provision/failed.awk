# Prints a line for each package with failed tests in the output of `go test -v`: the package, and a
# pattern for -run that matches these tests. It prints "whole PACKAGE" if the package did not
# compile, a test stopped the process, or the race detector found something.
/^--- FAIL: / { failed = failed (failed ? "|" : "") $3 }
/^WARNING: DATA RACE/ || /^panic: / { stopped = 1 }
/^ok[ \t]/ { failed = ""; stopped = 0 }
/^FAIL[ \t]+[^ \t]/ {
	print stopped || !failed ? "whole " $2 : $2 " ^(" failed ")$"
	failed = ""; stopped = 0
}
