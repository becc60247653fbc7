#!/bin/sh
# Puts cfn-lint, which finds what is wrong with the templates in infra/, into .cache/cfn-lint, in the versions of cfn-lint.txt
# beside this file, whose hashes are those of all files that PyPI has of them. It needs Python 3.10 or newer. It also transforms
# the template of SAM as the SAM command line does, whose own check is this one again, and takes 340 MB and a minute of processor
# time to install.
set -eu

here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
root=$(CDPATH='' cd -- "$here/../.." && pwd)
suite="the check of templates for CloudFormation"
. "$here/leave-out.sh"

cache=$root/.cache/cfn-lint
if [ -x "$cache/bin/cfn-lint" ] && cmp -s "$here/cfn-lint.txt" "$cache/fetched"; then
	exit 0
fi
python3 -c 'import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 10))' 2>/dev/null || {
	can_install || leave_out "$suite" "it needs Python 3.10 or newer with venv, and only root on Debian gets them installed here"
	install_packages python3-venv || leave_out "$suite" "apt-get could not install python3-venv"
}

echo "fetching cfn-lint"
rm -rf "$cache"
mkdir -p "$root/.cache"
# Compiling all that it brings takes longer than it runs.
python3 -m venv "$cache" &&
	"$cache/bin/pip" install --quiet --disable-pip-version-check --no-compile --no-deps --require-hashes --requirement "$here/cfn-lint.txt" ||
	leave_out "$suite" "pip could not fetch it; its words are above"
cp "$here/cfn-lint.txt" "$cache/fetched"
