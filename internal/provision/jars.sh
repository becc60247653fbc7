#!/bin/sh
# jars.sh SUITE FOLDER POM SUMS [MODULE] lets Maven put the dependencies of a pom into a folder.
# Paths begin at the root. SUMS has the checksum of each file: a folder with other jars is fetched
# again. It needs Java 17 or newer, with a module.
set -eu

here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
root=$(CDPATH='' cd -- "$here/../.." && pwd)
. "$here/leave-out.sh"
. "$here/matches.sh"
suite=$1 folder=$root/$2 pom=$root/$3 sums=$root/$4 module=${5:-java.base}

# java_version prints Java's major version, or 0 without Java.
java_version() {
	version=$(java -version 2>&1 | sed -n 's/.*version "\([0-9]*\).*/\1/p' | head -n 1) || true
	echo "${version:-0}"
}

# jars selects the names of jars, sorted.
jars() { grep '\.jar$' | LC_ALL=C sort; }

# holds FOLDER succeeds if the folder has the listed jars and no others: Java loads all of them.
holds() { matches "$1" "$sums" && [ "$(ls "$1" | jars)" = "$(cut -c 67- "$sums" | jars)" ]; }

# has_module succeeds if Java has the module. Only a JDK has a compiler.
has_module() { java --list-modules | grep -q "^$module@"; }

# ready succeeds if Java is there, and either the jars or Maven.
ready() { [ "$(java_version)" -ge 17 ] && has_module && { holds "$folder" || command -v mvn >/dev/null; }; }

# Nothing may load the wrong jars, even if the right ones cannot be fetched.
holds "$folder" || rm -rf "$folder"

if ! ready; then
	can_install || leave_out "$suite" "it needs Java 17 or newer (found: $(java_version)) with $module, and Maven; only root on Debian gets them from here"
	install_packages openjdk-17-jdk-headless maven || leave_out "$suite" "apt-get could not install openjdk-17-jdk-headless and maven"
	ready || leave_out "$suite" "Java 17 was installed, but $(command -v java) is version $(java_version), or without $module"
fi
if holds "$folder"; then
	exit 0
fi

echo "fetching the jars of $suite"
rm -rf "$folder.new"
mkdir -p "$root/.cache"
# Maven runs for seconds, which is too short for Java's second compiler to pay.
MAVEN_OPTS="-XX:+UseSerialGC -XX:TieredStopAtLevel=1 ${MAVEN_OPTS:-}" \
	mvn -B -q -Dstyle.color=never -f "$pom" dependency:copy-dependencies -DoutputDirectory="$folder.new" ||
	leave_out "$suite" "Maven could not fetch its jars; its words are above"
if ! holds "$folder.new"; then
	echo "what Maven fetched is not what $sums lists: after a change of $pom, write that file anew" >&2
	exit 1
fi
mv "$folder.new" "$folder"
