#!/bin/sh
# Sees to programs on PATH that few tests run: shells, whose completion is tested, Python, which reads the files of a page
# index, script, which makes terminals, and rpm and systemd-analyze, which read what releases have for them.
set -eu

here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
. "$here/leave-out.sh"

missing=
for program in fish zsh python3 script rpm systemd-analyze; do
	command -v "$program" >/dev/null || missing="$missing $program"
done
if [ -z "$missing" ]; then
	exit 0
fi
suite="the tests that run$missing"
can_install || leave_out "$suite" "not on PATH, and only root on Debian gets them installed here"
install_packages fish zsh python3 bsdutils rpm systemd || leave_out "$suite" "apt-get could not install them"
