#!/bin/sh
# Fails unless every Go module here is formatted, and nothing is found by the architecture test, and by staticcheck and the rules of
# go vet, which main.go beside this file joins; settings are in staticcheck.conf at the root. It is a module of its own, so that
# what the linters depend on stays out of the program's.
set -eu

here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
. "$here/../provision/race.sh"
cd "$here/../.."
mkdir -p .cache
lint=$PWD/.cache/lint

unformatted=$(git ls-files --cached --others --exclude-standard -- '*.go' | xargs gofmt -l)
if [ -n "$unformatted" ]; then
	echo "not as gofmt has it:" "$unformatted" >&2
	exit 1
fi

# The architecture test reads what `make build` compiled. Beside all other tests it has a small share of two processors.
CGO_ENABLED=0 GOFLAGS="$(go env GOFLAGS) ${LEAN:-}" go test -vet=off -timeout 60m ./internal/arch
CGO_ENABLED=0 go build -C "$here" -gcflags=all=-dwarf=false -o "$lint" .

# What is linted is compiled as for the tests: a linter reads what the compiler tells of each package.
GOFLAGS="$(go env GOFLAGS) $race"
export GOFLAGS
for module in . internal/clients/genqlient; do
	# It collects no garbage before it holds 2 GB, which takes a fifth off it.
	(cd "$module" && GOGC=off GOMEMLIMIT=2GiB "$lint" ./...)
done
