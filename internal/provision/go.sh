#!/bin/sh
# go.sh PROGRAM SUITE FOLDER [ARGUMENT...] builds bin/PROGRAM from the Go module in a folder, by its path from the root: a module of
# its own, so that what it needs is in no list of the program. What both have in the same versions is compiled with the same flags,
# and so only once. More arguments are those of go build.
#
# A source named main.go.txt is not taken for a package of this module by editors. It is built in .cache.
set -eu

here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
root=$(CDPATH='' cd -- "$here/../.." && pwd)
. "$here/leave-out.sh"
name=$1 program=$root/bin/$1 suite=$2 folder=$root/$3
shift 3

# made is all that the program is made of.
made() { echo "$*" && cat "$folder"/*; }

mkdir -p "$root/bin"
if [ -x "$program" ] && made "$@" | cmp -s - "$program.stamp"; then
	exit 0
fi
echo "building $name"
rm -f "$program.stamp" # it may be that of inputs which come back, when this has been interrupted
source=$folder
if [ -e "$folder/main.go.txt" ]; then
	source=$root/.cache/$name
	rm -rf "$source"
	mkdir -p "$source"
	cp "$folder"/go.* "$source"
	cp "$folder/main.go.txt" "$source/main.go"
fi
(cd "$source" && eval "CGO_ENABLED=0 nice go build ${LEAN:--gcflags=all=-dwarf=false}"' -ldflags="-s -w" -o "$program" "$@"') ||
	leave_out "$suite" "$name could not be built; the words of go are above"
made "$@" >"$program.stamp"
