#!/bin/sh
# npm.sh SUITE PACKAGES [FOLDER] puts npm packages into FOLDER/node_modules, or without FOLDER
# beside their list, PACKAGES/package-lock.json, which has versions and checksums. Paths begin at
# the root. It needs Node.js 20 or newer.
set -eu

here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
. "$here/leave-out.sh"
suite=$1 packages=$here/../../$2 folder=$here/../../${3:-$2}

if cmp -s "$packages/package-lock.json" "$folder/node_modules/stamp"; then
	exit 0
fi
command -v npm >/dev/null || leave_out "$suite" "npm, which fetches its packages, is not installed"
major=$(node -p 'process.versions.node.split(".")[0]') || major=0
[ "$major" -ge 20 ] || leave_out "$suite" "it needs Node.js 20 or newer (found: $major)"

echo "fetching what npm has for $suite"
mkdir -p "$folder"
[ "$folder" -ef "$packages" ] || cp "$packages/package.json" "$packages/package-lock.json" "$folder"
# The lists have no addresses. So npm would first ask the registry for all releases of each package,
# which is half of all requests. This adds the path that a package has in every registry, at a host
# name that stands for the configured one. npm still checks the checksums of the list. Node.js
# collects garbage less often, too.
(
	cd "$folder" || exit
	trap 'rm -f npm-shrinkwrap.json' EXIT
	trap 'exit 1' INT TERM
	node -e '
		const list = require("./package-lock.json")
		for (const [path, of] of Object.entries(list.packages)) {
			const name = of.name ?? path.split("node_modules/").pop()
			if (of.integrity) of.resolved = `https://registry/${name}/-/${name.split("/").pop()}-${of.version}.tgz`
		}
		fs.writeFileSync("npm-shrinkwrap.json", JSON.stringify(list))'
	NODE_OPTIONS="--max-semi-space-size=64 ${NODE_OPTIONS:-}" \
		npm ci --replace-registry-host=registry --ignore-scripts --no-audit --no-fund --loglevel=error
) ||
	leave_out "$suite" "npm could not fetch its packages; npm's words are above"
cp "$packages/package-lock.json" "$folder/node_modules/stamp"
