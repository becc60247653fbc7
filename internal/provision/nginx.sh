#!/bin/sh
# Sees to nginx on PATH, behind which servers are restarted one after the other. The service that the package starts is not
# wanted: tests start servers of their own.
set -eu

here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
suite="the nginx suite"
. "$here/leave-out.sh"

if command -v nginx >/dev/null; then
	exit 0
fi
can_install || leave_out "$suite" "nginx is not on PATH, and only root on Debian gets it installed here"
RUNLEVEL=1 install_packages nginx-light || leave_out "$suite" "apt-get could not install nginx-light"
