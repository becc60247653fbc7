#!/bin/sh
# Run by packages after they were installed or upgraded. The service is not started before it is configured.
set -e

if ! getent passwd talkback >/dev/null; then
	useradd --system --user-group --home-dir /var/lib/talkback --no-create-home --shell /usr/sbin/nologin talkback
fi
if [ -d /run/systemd/system ]; then
	systemctl daemon-reload
	systemctl try-restart talkback.service
fi
