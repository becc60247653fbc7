#!/bin/sh
# What checks the files that start containers: bin/compose, which reads compose.yml as Compose does, and kubernetes-validate in
# .cache/kubernetes, which knows what each kind of Kubernetes' resources may have. Both are built or fetched beside the program's
# own modules, so what they need is in no list of the program.
set -eu

here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
root=$(CDPATH='' cd -- "$here/../.." && pwd)
. "$here/leave-out.sh"
mkdir -p "$root/bin" "$root/.cache"

suite="the check of compose.yml"
stamp=$root/bin/compose.stamp
if ! [ -x "$root/bin/compose" ] || ! cat "$here/compose/main.go.txt" "$here/compose/go.sum" | cmp -s - "$stamp"; then
	echo "building the reader of compose.yml"
	source=$root/.cache/compose
	rm -rf "$source"
	mkdir -p "$source"
	cp "$here/compose/go.mod" "$here/compose/go.sum" "$source"
	cp "$here/compose/main.go.txt" "$source/main.go"
	(cd "$source" && CGO_ENABLED=0 nice go build -gcflags=all=-dwarf=false -ldflags='-s -w' -o "$root/bin/compose" .) ||
		leave_out "$suite" "its reader could not be built; the words of go are above"
	cat "$here/compose/main.go.txt" "$here/compose/go.sum" >"$stamp"
fi

suite="the check of Kubernetes' resources"
cache=$root/.cache/kubernetes
if [ -x "$cache/bin/kubernetes-validate" ] && cmp -s "$here/kubernetes.txt" "$cache/fetched"; then
	exit 0
fi
python3 -c 'import ensurepip, venv' 2>/dev/null || {
	can_install || leave_out "$suite" "it needs Python with venv, and only root on Debian gets them installed here"
	install_packages python3-venv || leave_out "$suite" "apt-get could not install python3-venv"
}
echo "fetching kubernetes-validate"
rm -rf "$cache"
python3 -m venv "$cache" &&
	"$cache/bin/pip" install --quiet --disable-pip-version-check --no-compile --no-deps --requirement "$here/kubernetes.txt" ||
	leave_out "$suite" "pip could not fetch it; its words are above"
cp "$here/kubernetes.txt" "$cache/fetched"
