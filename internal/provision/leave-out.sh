# Sourced by the scripts beside it that provide what some tests need. Without it, those tests are
# left out; in CI, which runs everything, its absence is an error.

# leave_out WHAT WHY ends the script with one line that says what will not be tested.
leave_out() {
	echo "left out: $1: $2"
	if [ -n "${CI:-}" ]; then
		echo "CI is set, so nothing may be left out" >&2
		exit 1
	fi
	exit 0
}

# can_install succeeds if missing packages may be installed: as root, on Debian or a system like it.
can_install() {
	[ "$(id -u)" = 0 ] && [ -e /etc/debian_version ] && command -v apt-get >/dev/null
}

# install_packages NAME... installs Debian packages. It does not start their services, because tests
# start servers of their own.
install_packages() {
	echo "installing $*"
	apt_install "$@" 2>/dev/null || { apt-get update -qq && apt_install "$@"; } # its lists may be old, or missing
}

apt_install() {
	RUNLEVEL=1 DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends -o Dpkg::Options::=--force-confold "$@" >/dev/null
}
