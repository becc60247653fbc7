#!/bin/sh
# Fails unless dist/ is what the sources here make: installs what package-lock.json says, builds into a folder of its
# own, and compares. To bring dist/ up to date: npm ci --ignore-scripts && npm run build
#
# What is compared is the unpacked files: another release of Node may well pack the same bytes differently.
set -eu
cd "$(dirname "$0")"

fresh=$(mktemp -d)
trap 'rm -rf "$fresh"' EXIT

npm ci --ignore-scripts --no-audit --no-fund
node build.mjs "$fresh/dist"

ls dist > "$fresh/committed"
ls "$fresh/dist" > "$fresh/built"
diff "$fresh/committed" "$fresh/built"

while read -r name; do
  gunzip -c "dist/$name" > "$fresh/one"
  gunzip -c "$fresh/dist/$name" | cmp - "$fresh/one" || { echo "$name differs" >&2; exit 1; }
done < "$fresh/built"
echo "dist/ is up to date"
