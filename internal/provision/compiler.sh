#!/bin/sh
# Sees that there is a C compiler, without which Go's race detector does not work on Linux.
set -eu

here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
suite="the race detector"
. "$here/leave-out.sh"

[ -n "${CI:-}${RACE:-}" ] || exit 0 # nothing is watched for races
command -v cc >/dev/null || command -v gcc >/dev/null && exit 0
can_install || leave_out "$suite" "it needs a C compiler; only root on Debian gets one from here"
install_packages gcc libc6-dev || leave_out "$suite" "apt-get could not install gcc and libc6-dev"
