#!/bin/sh
# Sees to a chromium on PATH, which the tests of the pages drive.
set -eu

here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
suite="the browser tests"
. "$here/leave-out.sh"

if command -v chromium >/dev/null; then
	exit 0
fi
can_install || leave_out "$suite" "chromium is not on PATH, and only root on Debian gets it installed here"
install_packages chromium || leave_out "$suite" "apt-get could not install chromium"
