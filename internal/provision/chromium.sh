#!/bin/sh
# Sees to a browser on PATH, which the tests of the pages drive: Chromium's headless shell, which takes half the processor time of
# the whole of Chromium, or that.
set -eu

here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
suite="the browser tests"
. "$here/leave-out.sh"

for browser in /usr/lib/chromium/chromium-headless-shell chromium; do
	if command -v "$browser" >/dev/null; then
		exit 0
	fi
done
can_install || leave_out "$suite" "Chromium is not on PATH, and only root on Debian gets it installed here"
install_packages chromium-headless-shell || install_packages chromium || leave_out "$suite" "apt-get could not install Chromium"
