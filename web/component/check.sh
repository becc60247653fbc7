#!/bin/sh
# Fails unless the sources here are well-typed and dist/ is what they make: installs what package-lock.json says, builds into a
# folder of its own, and compares. To bring dist/ up to date: npm ci --ignore-scripts && npm run build
#
# What is compared are the unpacked scripts: another release of Node may well pack the same bytes differently.
set -eu
cd "$(dirname "$0")"

fresh=$(mktemp -d)
trap 'rm -rf "$fresh"' EXIT

npm ci --ignore-scripts --no-audit --no-fund
npm run --silent check
node build.mjs "$fresh/dist"

ls dist > "$fresh/committed"
ls "$fresh/dist" > "$fresh/built"
diff "$fresh/committed" "$fresh/built"
cmp dist/component.css "$fresh/dist/component.css"
cmp dist/operations.json "$fresh/dist/operations.json"
for packed in dist/*.gz; do
	gunzip -c "$packed" > "$fresh/committed.js"
	gunzip -c "$fresh/$packed" | cmp - "$fresh/committed.js" || { echo "$packed differs" >&2; exit 1; }
done
echo "dist/ is up to date"
