# Sourced by the scripts beside it that fetch programs.

# matches FOLDER SUMS succeeds if the files that a list of SHA-256 sums names are in a folder, as
# listed. There may be others.
matches() (
	cd "$1" 2>/dev/null || exit 1
	if command -v sha256sum >/dev/null; then
		sha256sum --check --status "$2" 2>/dev/null
	else
		shasum -a 256 --check --status "$2" 2>/dev/null
	fi
)
