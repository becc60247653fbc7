#!/bin/sh
# Fails unless every Go module here is formatted, and the architecture test, staticcheck and the
# rules of go vet find nothing. main.go beside this file joins the latter two, with the settings of
# staticcheck.conf at the root. It is a module of its own, so that the program does not depend on
# the linters.
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

# The architecture test reads the packages that `make build` compiled. It gets little of the
# processor while the other tests run, hence the timeout.
CGO_ENABLED=0 GOFLAGS="$(go env GOFLAGS) ${LEAN:-}" go test -vet=off -timeout 60m ./internal/arch
CGO_ENABLED=0 go build -C "$here" -gcflags=all=-dwarf=false -o "$lint" .

# Linters read the compiler's export data, so they get the flags of the tests.
GOFLAGS="$(go env GOFLAGS) $race"
export GOFLAGS
for module in . internal/clients/genqlient; do
	# No garbage collection below 2 GB takes a fifth less time.
	(cd "$module" && GOGC=off GOMEMLIMIT=2GiB "$lint" ./...)
done
