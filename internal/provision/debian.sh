#!/bin/sh
# debian.sh [SUITE] checks that the programs that tests run are on PATH, or those of one suite. As
# root on Debian it installs the packages of missing ones.
set -eu

here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
. "$here/leave-out.sh"
only=${1:-}

# there PROGRAM... succeeds if at least one of the programs exists.
there() {
	for program; do
		! command -v "$program" >/dev/null || return 0
	done
	return 1
}

# need SUITE PACKAGES PROGRAM... installs packages, separated by spaces, unless one of the programs
# exists.
need() (
	suite=$1 packages=$2
	shift 2
	[ -z "$only" ] || [ "$only" = "$suite" ] || exit 0
	! there "$@" || exit 0
	can_install || leave_out "$suite" "$1 is missing, and only root on Debian gets it installed here"
	install_packages $packages || leave_out "$suite" "apt-get could not install $packages"
)

# The headless shell takes half the processor time of Chromium, but some systems lack it.
shell=/usr/lib/chromium/chromium-headless-shell
[ -n "$only" ] || there $shell chromium || ! can_install || install_packages chromium-headless-shell || true
need "the browser tests" chromium $shell chromium
need "the Redis suite" redis-server redis-server
need "the nginx suite" nginx-light nginx
postgres=$(ls /usr/lib/postgresql/*/bin/postgres 2>/dev/null) || true # Debian has a folder for each version
if [ -z "$only" ] && ! there postgres $postgres && can_install && [ ! -e /etc/postgresql-common/createcluster.conf ]; then
	mkdir -p /etc/postgresql-common
	echo "create_main_cluster = false" >/etc/postgresql-common/createcluster.conf
fi
need "the PostgreSQL suite" postgresql postgres $postgres
for program in fish zsh python3 rpm; do
	need "the tests that run $program" $program $program
done
need "the tests that run script" bsdutils script
need "the tests that run systemd-analyze" systemd systemd-analyze
[ -z "${CI:-}${RACE:-}" ] || need "the race detector" "gcc libc6-dev" cc gcc
