# Sourced by the scripts that compile tests, so that all use the same flags, and each package is
# compiled once.

# race has the flags for the race detector, which CI and RACE=1 turn on. Without a C compiler, which
# debian.sh reports, they are empty. With the detector the tests take 1.6 times as long. It does not
# watch other projects' packages that do much work and share data between goroutines only through a
# sync.Pool: watched, they take five times as long. It has to watch packages with atomics, a
# sync.Map or a sync.Once, such as encoding/json: otherwise it would report what these synchronize
# as races. SQLite, which is translated from C, and the client of Redis, with hundreds of commands,
# are not inlined, because that takes longer than the tests use them. The quotes are those of
# GOFLAGS.
unwatched="encoding/base64 regexp strconv unicode/utf8 github.com/alecthomas/kong github.com/klauspost/compress/flate
	github.com/aws/smithy-go/transport/http/protocol/internal/json/..."
race=
if [ -n "${CI:-}${RACE:-}" ] && { command -v cc || command -v gcc; } >/dev/null; then
	race="-race -gcflags=all=-dwarf=false '-gcflags=github.com/redis/go-redis/v9=-l -dwarf=false'"
	for package in modernc.org/sqlite/lib modernc.org/libc; do
		race="$race '-gcflags=$package=-race=false -l -dwarf=false'"
	done
	for package in $unwatched; do
		race="$race '-gcflags=$package=-race=false -dwarf=false'"
	done
else
	export CGO_ENABLED=0 # as the program is built, whose packages tests then share
	[ -n "${CI:-}${RACE:-}" ] || race=${LEAN:-}
fi
