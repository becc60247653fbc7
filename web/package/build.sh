#!/bin/sh
# build.sh PROGRAM FOLDER makes the npm package in a folder: what is here, the element as web/component has it, and the
# version that the program tells. `npm pack FOLDER` packs it.
set -eu

here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
version=$("$1" --version | sed 's/^talkback v\{0,1\}\([^ ]*\) .*/\1/; s/^(devel)$/0.0.0-devel/')

rm -rf "$2"
mkdir -p "$2"
cp "$here/index.js" "$here/index.d.ts" "$here/react.d.ts" "$here/README.md" "$here/../../LICENSE" "$2"
cp "$here/../product/texts/en.json" "$2/strings.json"
cp "$here/../component/dist/operations.json" "$2"
gunzip -c "$here/../component/dist/talkback.js.gz" >"$2/talkback.js"
sed "s/\"version\": \"0.0.0\"/\"version\": \"$version\"/" "$here/package.json" >"$2/package.json"
echo "talkback-comments $version"
