#!/bin/sh
# Sees to a PostgreSQL server, which page numbers in PostgreSQL are tested with: on PATH, or where Debian keeps each version.
# The tests start servers of their own; the cluster that Debian's package would make and start is not made.
set -eu

here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
suite="the PostgreSQL suite"
. "$here/leave-out.sh"

installed() {
	command -v postgres >/dev/null && return
	for program in /usr/lib/postgresql/*/bin/postgres; do
		[ -x "$program" ] && return
	done
	return 1
}

if installed; then
	exit 0
fi
can_install || leave_out "$suite" "postgres is neither on PATH nor in /usr/lib/postgresql, and only root on Debian gets it from here"
if [ ! -e /etc/postgresql-common/createcluster.conf ]; then
	mkdir -p /etc/postgresql-common
	echo "create_main_cluster = false" >/etc/postgresql-common/createcluster.conf
fi
install_packages -o Dpkg::Options::=--force-confold postgresql || leave_out "$suite" "apt-get could not install postgresql"
