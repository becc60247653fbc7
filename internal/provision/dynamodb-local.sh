#!/bin/sh
# Puts Amazon's DynamoDB Local, which the engine tests run against beside Dynoxide, into .cache/dynamodb-local: one
# folder of jars and native libraries. Its version is that of pom.xml beside this file. It needs Java 17 or newer.
set -eu

here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
root=$(CDPATH='' cd -- "$here/../.." && pwd)
target=$root/.cache/dynamodb-local
suite="the DynamoDB Local suite"
. "$here/leave-out.sh"

# java_version prints Java's major version, or 0 without Java.
java_version() {
	version=$(java -version 2>&1 | sed -n 's/.*version "\([0-9]*\).*/\1/p' | head -n 1) || true
	echo "${version:-0}"
}

fetched() { cmp -s "$here/pom.xml" "$target/stamp"; }
ready() { [ "$(java_version)" -ge 17 ] && { fetched || command -v mvn >/dev/null; }; }

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
rm -rf "$target" "$target.new"
mvn -B -q -Dstyle.color=never -f "$here/pom.xml" dependency:copy-dependencies -DoutputDirectory="$target.new" ||
	leave_out "$suite" "Maven could not fetch it; its words are above"
cp "$here/pom.xml" "$target.new/stamp"
mv "$target.new" "$target"
