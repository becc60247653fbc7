#!/bin/sh
# Fails unless every Go module here is formatted, and nothing is found by go vet, by the architecture test and by staticcheck,
# whose settings are in staticcheck.conf at the root. Its version is that of go.mod beside this file, a module of its own, so that what the
# linters depend on stays out of the program's.
set -eu

here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
. "$here/../provision/race.sh"
cd "$here/../.."
mkdir -p .cache
staticcheck=$PWD/.cache/staticcheck

unformatted=$(git ls-files --cached --others --exclude-standard -- '*.go' | xargs gofmt -l)
if [ -n "$unformatted" ]; then
	echo "not as gofmt has it:" "$unformatted" >&2
	exit 1
fi

# The architecture test reads what `make build` compiled. Beside all other tests it has a small share of two processors.
CGO_ENABLED=0 GOFLAGS="$(go env GOFLAGS) ${LEAN:-}" go test -vet=off -timeout 60m ./internal/arch
CGO_ENABLED=0 go build -gcflags=all=-dwarf=false -modfile="$here/go.mod" -o "$staticcheck" honnef.co/go/tools/cmd/staticcheck

# What is linted is compiled as for the tests: a linter reads what the compiler tells of each package.
GOFLAGS="$(go env GOFLAGS) $race"
export GOFLAGS
for module in . internal/clients/genqlient; do
	# Staticcheck collects no garbage before it holds 2 GB, which takes a fifth off it.
	(cd "$module" && go vet ./... && GOGC=off GOMEMLIMIT=2GiB "$staticcheck" ./...)
done
