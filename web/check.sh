#!/bin/sh
# check.sh FOLDER checks the types of a bundle's sources, if they have any, and that FOLDER/dist is
# up to date: it builds into a temporary folder and compares. `make component` and `make explorer`
# update dist.
#
# It compares the unpacked files, because other releases of Node may compress them differently.
set -eu
cd "$(dirname "$0")/$1"

fresh=$(mktemp -d)
trap 'rm -rf "$fresh"' EXIT

../../internal/provision/npm.sh "the bundle of web/$1" "web/$1"
cmp -s package-lock.json node_modules/stamp || exit 0 # npm.sh left the packages out
npm run --silent --if-present check
node build.mjs "$fresh/dist"

# unpack FROM TO copies a bundle and decompresses its files.
unpack() {
	mkdir "$2"
	for file in "$1"/*; do
		case $file in
		*.gz) gunzip -c "$file" >"$2/${file##*/}" ;;
		*) cp "$file" "$2" ;;
		esac
	done
}
unpack dist "$fresh/committed"
unpack "$fresh/dist" "$fresh/built"
diff -rq "$fresh/committed" "$fresh/built"
echo "dist/ is up to date"
