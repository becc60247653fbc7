#!/bin/sh
# Puts Amazon's DynamoDB Local, which the engine tests run against beside Dynoxide, into .cache/dynamodb-local: one
# folder of jars and native libraries. Its version is that of pom.xml beside this file, and dynamodb-local.sha256 has the
# checksum of every file: a folder that holds others by now is fetched anew. It needs Java 17 or newer.
set -eu

here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
root=$(CDPATH='' cd -- "$here/../.." && pwd)
target=$root/.cache/dynamodb-local
suite="the DynamoDB Local suite"
sums=$here/dynamodb-local.sha256
. "$here/leave-out.sh"
. "$here/matches.sh"

# java_version prints Java's major version, or 0 without Java.
java_version() {
	version=$(java -version 2>&1 | sed -n 's/.*version "\([0-9]*\).*/\1/p' | head -n 1) || true
	echo "${version:-0}"
}

# jars keeps the names of jars, in the order of the list.
jars() { grep '\.jar$' | LC_ALL=C sort; }

# holds FOLDER tells whether a folder holds what is listed, and no other jar: Java is given all that are there.
holds() { matches "$1" "$sums" && [ "$(ls "$1" | jars)" = "$(cut -c 67- "$sums" | jars)" ]; }
fetched() { holds "$target"; }
ready() { [ "$(java_version)" -ge 17 ] && { fetched || command -v mvn >/dev/null; }; }

# Nothing runs what stands there instead, whether or not the right one can be had.
fetched || rm -rf "$target"

if ! ready; then
	can_install ||
		leave_out "$suite" "it needs Java 17 or newer (found: $(java_version)) and Maven; only root on Debian gets them from here"
	install_packages openjdk-17-jre-headless maven ||
		leave_out "$suite" "apt-get could not install openjdk-17-jre-headless and maven"
	ready || leave_out "$suite" "Java 17 was installed, but $(command -v java) is version $(java_version)"
fi

if fetched; then
	exit 0
fi

echo "fetching DynamoDB Local"
mkdir -p "$root/.cache"
rm -rf "$target.new"
# Maven runs for seconds, too short for Java's second compiler to pay.
MAVEN_OPTS="-XX:+UseSerialGC -XX:TieredStopAtLevel=1 ${MAVEN_OPTS:-}" \
	mvn -B -q -Dstyle.color=never -f "$here/pom.xml" dependency:copy-dependencies -DoutputDirectory="$target.new" ||
	leave_out "$suite" "Maven could not fetch it; its words are above"
if ! holds "$target.new"; then
	echo "what Maven fetched is not what dynamodb-local.sha256 lists: after a change of pom.xml, write that file anew" >&2
	exit 1
fi
mv "$target.new" "$target"
