#!/bin/sh
# pip.sh SUITE FOLDER LIST [OPTION...] installs the Python packages of a list into an environment in
# a folder. Paths begin at the root, and options are those of pip. It needs Python 3.10 or newer.
set -eu

here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
. "$here/leave-out.sh"
suite=$1 folder=$here/../../$2 list=$here/../../$3
shift 3

if cmp -s "$list" "$folder/fetched"; then
	exit 0
fi
python3 -c 'import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 10))' 2>/dev/null || {
	can_install || leave_out "$suite" "it needs Python 3.10 or newer with venv, and only root on Debian gets them installed here"
	install_packages python3-venv || leave_out "$suite" "apt-get could not install python3-venv"
}
echo "fetching what pip has for $suite"
rm -rf "$folder"
# To compile all of the packages takes longer than they run.
python3 -m venv "$folder" &&
	"$folder/bin/pip" install --quiet --disable-pip-version-check --no-compile --no-deps "$@" --requirement "$list" ||
	leave_out "$suite" "pip could not fetch it; its words are above"
cp "$list" "$folder/fetched"
