#!/bin/sh
# Packages run this before they are removed (remove, or 0), which stops the service, and before they
# are upgraded, which does not.
set -e

case "$1" in
remove | 0)
	if [ -d /run/systemd/system ]; then
		systemctl disable --now talkback.service || true
	fi
	;;
esac
