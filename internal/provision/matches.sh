# Read by the scripts beside it, for what is run as it was fetched.

# matches FOLDER SUMS tells whether the files in a folder are those that a list of SHA-256 sums names. There may be others.
matches() (
	cd "$1" 2>/dev/null || exit 1
	if command -v sha256sum >/dev/null; then
		sha256sum --check --status "$2" 2>/dev/null
	else
		shasum -a 256 --check --status "$2" 2>/dev/null
	fi
)
