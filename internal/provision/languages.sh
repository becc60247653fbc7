#!/bin/sh
# Builds the program that tells the languages of texts, at bin/talkback-languages, where `talkback import --detect-language`
# looks for it. Its library is fetched for it alone: 123 MB, most of it models.
set -eu

here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
root=$(CDPATH='' cd -- "$here/../.." && pwd)
suite="languages of reviews"
. "$here/leave-out.sh"

source=$root/cmd/talkback-languages
stamp=$root/bin/talkback-languages.stamp
mkdir -p "$root/bin"
if [ -x "$root/bin/talkback-languages" ] && cat "$source/main.go" "$source/go.sum" | cmp -s - "$stamp"; then
	exit 0
fi

echo "building talkback-languages"
(cd "$source" && CGO_ENABLED=0 nice go build -gcflags=all=-dwarf=false -ldflags='-s -w' -o "$root/bin/talkback-languages" .) ||
	leave_out "$suite" "talkback-languages could not be built; the words of go are above"
cat "$source/main.go" "$source/go.sum" >"$stamp"
