# Read by the scripts that compile what is tested, so that all of them compile it in one way, and only once.

# race are the flags for the race detector, with which the suite takes 1.6 times as long: CI turns it on, and RACE=1. There
# are none where there is no C compiler, and debian.sh has said so. It leaves out packages of others that do much and share
# nothing between goroutines but by way of a sync.Pool: watched, they take five times as long. Packages with atomics, a
# sync.Map or a sync.Once of their own, such as encoding/json, have to be watched: the detector would take what these order
# for races. SQLite, which was C once, is not inlined either: that takes longer than all its use in the tests. Nor is the
# client of Redis, with hundreds of commands. Debug information is not made. The quotes are those of GOFLAGS.
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
