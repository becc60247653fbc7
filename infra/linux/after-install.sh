#!/bin/sh
# Packages run this after they are installed or upgraded. It does not start the service, which has
# no settings yet. It succeeds where systemd refuses, such as for a service that is masked.
set -e

if ! getent passwd talkback >/dev/null; then
	useradd --system --user-group --home-dir /var/lib/talkback --no-create-home --shell /usr/sbin/nologin talkback
fi
if [ -d /run/systemd/system ]; then
	systemctl daemon-reload || true
	systemctl try-restart talkback.service || true
fi
