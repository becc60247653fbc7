#!/bin/sh
# Sees to a redis-server on PATH, which the tests of page numbers in Redis run. The service that the package starts is not
# wanted: tests start servers of their own.
set -eu

here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
suite="the Redis suite"
. "$here/leave-out.sh"

if command -v redis-server >/dev/null; then
	exit 0
fi
can_install || leave_out "$suite" "redis-server is not on PATH, and only root on Debian gets it installed here"
RUNLEVEL=1 install_packages redis-server || leave_out "$suite" "apt-get could not install redis-server"
