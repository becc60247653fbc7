#!/bin/sh
# build.sh PROGRAM FOLDER builds the npm package in FOLDER: the files of this folder, the element
# that web/component built, and the version that PROGRAM prints. `npm pack FOLDER` then packs it.
set -eu

here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
version=$("$1" --version | sed 's/^talkback v\{0,1\}\([^ ]*\) .*/\1/; s/^(devel)$/0.0.0-devel/')

rm -rf "$2"
mkdir -p "$2"
cp "$here/index.js" "$here/index.d.ts" "$here/react.d.ts" "$here/README.md" "$2"
cp "$here/../../LICENSE" "$2"
cp "$here/../product/texts/en.json" "$2/strings.json"
cp "$here/../component/dist/operations.json" "$2"
gunzip -c "$here/../component/dist/talkback.js.gz" >"$2/talkback.js"
sed "s/\"version\": \"0.0.0\"/\"version\": \"$version\"/" "$here/package.json" >"$2/package.json"
echo "talkback-comments $version"
