# Read by the scripts beside it that fetch npm packages in the versions and with the checksums of a package-lock.json. They set
# $suite, the name of what is left out where that is impossible, and read leave-out.sh before.

# need_node VERSION leaves the suite out without npm and a Node.js of at least this major version.
need_node() {
	command -v npm >/dev/null || leave_out "$suite" "npm, which fetches its packages, is not installed"
	major=$(node -p 'process.versions.node.split(".")[0]') || major=0
	[ "$major" -ge "$1" ] || leave_out "$suite" "it needs Node.js $1 or newer (found: $major)"
}

# fetched FOLDER PACKAGES says whether FOLDER has the packages of PACKAGES/package-lock.json.
fetched() { cmp -s "$2/package-lock.json" "$1/node_modules/stamp"; }

# fetch_packages FOLDER PACKAGES puts these packages into FOLDER/node_modules.
fetch_packages() {
	echo "fetching what npm has for $suite"
	mkdir -p "$1"
	[ "$1" -ef "$2" ] || cp "$2/package.json" "$2/package-lock.json" "$1"
	(cd "$1" && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error) ||
		leave_out "$suite" "npm could not fetch its packages; npm's words are above"
	cp "$2/package-lock.json" "$1/node_modules/stamp"
}
