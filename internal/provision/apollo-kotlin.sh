#!/bin/sh
# Puts Apollo Kotlin, its compiler and that of Kotlin, by which the clients' tests make an application, into
# .cache/apollo-kotlin: a folder of jars. Their versions are those of apollo-kotlin.xml beside this file, and
# apollo-kotlin.sha256 has their checksums. They need a JDK 17 or newer.
set -eu

here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
root=$(CDPATH='' cd -- "$here/../.." && pwd)
suite="the test of Apollo Kotlin"
. "$here/leave-out.sh"
. "$here/matches.sh"
. "$here/maven.sh"

mkdir -p "$root/.cache"
need_jars "$root/.cache/apollo-kotlin" "$here/apollo-kotlin.xml" "$here/apollo-kotlin.sha256"
if ! java --list-modules | grep -q '^jdk.compiler@'; then
	can_install || leave_out "$suite" "it needs a JDK 17 or newer, and there is a runtime only"
	install_packages openjdk-17-jdk-headless || leave_out "$suite" "apt-get could not install openjdk-17-jdk-headless"
fi
