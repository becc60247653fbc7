#!/bin/sh
# Fails unless every Go module here is formatted, and nothing is found by go vet, by the architecture test and by staticcheck,
# whose settings are in staticcheck.conf at the root. Its version is that of go.mod beside this file, a module of its own, so that what the
# linters depend on stays out of the program's.
set -eu

here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
cd "$here/../.."

unformatted=$(git ls-files --cached --others --exclude-standard -- '*.go' | xargs gofmt -l)
if [ -n "$unformatted" ]; then
	echo "not as gofmt has it:" "$unformatted" >&2
	exit 1
fi

go test ./internal/arch

for module in . internal/clients/genqlient; do
	(cd "$module" && go vet ./... && go tool -modfile="$here/go.mod" staticcheck ./...)
done
