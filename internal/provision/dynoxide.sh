#!/bin/sh
# Puts Dynoxide, the local engine, at bin/dynoxide. package-lock.json beside this file pins its
# version and the checksum of its package, dynoxide.sha256 the checksum of the program: a file with
# another one is fetched again. The registry has Dynoxide for Linux on x86-64 only; elsewhere the
# program uses the dynoxide on PATH.
set -eu

here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
root=$(CDPATH='' cd -- "$here/../.." && pwd)
cache=$root/.cache/dynoxide
binary=$root/bin/dynoxide
sums=$here/dynoxide.sha256
. "$here/matches.sh"

on_path() {
	if command -v dynoxide >/dev/null; then
		echo "$1; the dynoxide on PATH will be used: $(command -v dynoxide)"
		exit 0
	fi
}

platform=$(uname -s)-$(uname -m)
if [ "$platform" != Linux-x86_64 ]; then
	on_path "Dynoxide is not packaged for $platform"
	echo "Dynoxide is not packaged for $platform: put dynoxide 1.2.1 on PATH (https://github.com/nubo-db/dynoxide)," \
		"or run bin/talkback with --endpoint URL or --aws" >&2
	exit 1
fi

if [ -x "$binary" ] && matches "$root/bin" "$sums"; then
	exit 0
fi
# Nothing may run the wrong file, even if the right one cannot be fetched.
rm -f "$binary"

if ! command -v npm >/dev/null; then
	on_path "npm, which fetches Dynoxide, is not installed"
	echo "npm, which fetches Dynoxide, is not installed: install Node.js, or put dynoxide on PATH" >&2
	exit 1
fi

echo "fetching Dynoxide, the local engine"
rm -rf "$cache"
mkdir -p "$cache" "$root/bin"
cp "$here/package.json" "$here/package-lock.json" "$cache"
(cd "$cache" && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error)

fetched=$cache/node_modules/@dynoxide/linux-x64
if ! matches "$fetched" "$sums"; then
	echo "what npm fetched is not the program of dynoxide.sha256: after a change of its version, write that file anew" >&2
	exit 1
fi

# A rename replaces the file at once, so nothing runs half of it.
cp "$fetched/dynoxide" "$binary.new"
chmod 755 "$binary.new"
mv "$binary.new" "$binary"
