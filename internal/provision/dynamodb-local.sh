#!/bin/sh
# Puts Amazon's DynamoDB Local, which the engine tests run against beside Dynoxide, into .cache/dynamodb-local: one
# folder of jars and native libraries. Its version is that of pom.xml beside this file, and dynamodb-local.sha256 has the
# checksum of every file: a folder that holds others by now is fetched anew. It needs Java 17 or newer.
set -eu

here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
root=$(CDPATH='' cd -- "$here/../.." && pwd)
suite="the DynamoDB Local suite"
. "$here/leave-out.sh"
. "$here/matches.sh"
. "$here/maven.sh"

mkdir -p "$root/.cache"
need_jars "$root/.cache/dynamodb-local" "$here/pom.xml" "$here/dynamodb-local.sha256"
