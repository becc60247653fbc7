# Read by the scripts beside it, for what is needed by some tests only. Those tests are left out where it cannot be
# had, except in CI, which is there to run everything.

# leave_out WHAT WHY ends the script with one line that says what will not be tested.
leave_out() {
	echo "left out: $1: $2"
	if [ -n "${CI:-}" ]; then
		echo "CI is set, so nothing may be left out" >&2
		exit 1
	fi
	exit 0
}

# can_install says whether missing packages may be installed: as root, on Debian and its like.
can_install() {
	[ "$(id -u)" = 0 ] && [ -e /etc/debian_version ] && command -v apt-get >/dev/null
}

# install_packages NAME... installs Debian packages, and starts no service that they bring: tests start servers of their own.
install_packages() {
	echo "installing $*"
	apt_install "$@" 2>/dev/null || { apt-get update -qq && apt_install "$@"; } # its lists may be old, or missing
}

apt_install() {
	RUNLEVEL=1 DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends -o Dpkg::Options::=--force-confold "$@" >/dev/null
}
