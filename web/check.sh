#!/bin/sh
# check.sh FOLDER fails unless the sources of a bundle are well-typed, if they have types, and FOLDER/dist is what they make: it
# builds into a folder of its own, and compares. To bring dist up to date: make component, make explorer.
#
# What is compared is unpacked: another release of Node may well pack the same bytes differently.
set -eu
cd "$(dirname "$0")/$1"

fresh=$(mktemp -d)
trap 'rm -rf "$fresh"' EXIT

../../internal/provision/npm.sh "the bundle of web/$1" "web/$1"
cmp -s package-lock.json node_modules/stamp || exit 0 # it is left out
npm run --silent --if-present check
node build.mjs "$fresh/dist"

# unpack FROM TO copies a bundle, unpacked.
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
