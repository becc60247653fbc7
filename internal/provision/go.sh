#!/bin/sh
# go.sh PROGRAM SUITE FOLDER [ARGUMENT...] builds bin/PROGRAM from a Go module in a folder. The path
# of the folder begins at the root, and arguments are those of go build. A module of its own keeps
# its dependencies out of the program's. Packages that both use in the same versions are compiled
# once, because the flags are the same.
#
# Editors do not take a source named main.go.txt for a package of this module. It is built in
# .cache.
set -eu

here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
root=$(CDPATH='' cd -- "$here/../.." && pwd)
. "$here/leave-out.sh"
name=$1 program=$root/bin/$1 suite=$2 folder=$root/$3
shift 3

# made prints all inputs of the program.
made() { echo "$*" && cat "$folder"/*; }

mkdir -p "$root/bin"
if [ -x "$program" ] && made "$@" | cmp -s - "$program.stamp"; then
	exit 0
fi
echo "building $name"
rm -f "$program.stamp" # after an interrupted build, no stamp may match
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
