#!/bin/sh
# Run by packages before they are removed (remove, or 0), and before they are upgraded, when nothing is stopped.
set -e

case "$1" in
remove | 0)
	if [ -d /run/systemd/system ]; then
		systemctl disable --now talkback.service
	fi
	;;
esac
