# Read by the scripts beside it that fetch jars by Maven, with the checksums of a list. They set $suite, the name of what is
# left out where that is impossible, and read leave-out.sh and matches.sh before.

# java_version prints Java's major version, or 0 without Java.
java_version() {
	version=$(java -version 2>&1 | sed -n 's/.*version "\([0-9]*\).*/\1/p' | head -n 1) || true
	echo "${version:-0}"
}

# jars keeps the names of jars, in the order of a list.
jars() { grep '\.jar$' | LC_ALL=C sort; }

# holds FOLDER SUMS tells whether a folder holds what is listed, and no other jar: Java is given all that are there.
holds() { matches "$1" "$2" && [ "$(ls "$1" | jars)" = "$(cut -c 67- "$2" | jars)" ]; }

# maven_ready FOLDER SUMS tells whether Java is there, and the jars or what fetches them.
maven_ready() { [ "$(java_version)" -ge 17 ] && { holds "$1" "$2" || command -v mvn >/dev/null; }; }

# need_jars FOLDER POM SUMS puts the dependencies of a pom into a folder, unless they are there. The list is of all files.
need_jars() {
	# Nothing runs what stands there instead, whether or not the right one can be had.
	holds "$1" "$3" || rm -rf "$1"

	if ! maven_ready "$1" "$3"; then
		can_install ||
			leave_out "$suite" "it needs Java 17 or newer (found: $(java_version)) and Maven; only root on Debian gets them from here"
		install_packages openjdk-17-jre-headless maven ||
			leave_out "$suite" "apt-get could not install openjdk-17-jre-headless and maven"
		maven_ready "$1" "$3" || leave_out "$suite" "Java 17 was installed, but $(command -v java) is version $(java_version)"
	fi

	if holds "$1" "$3"; then
		return 0
	fi

	echo "fetching the jars of $suite"
	rm -rf "$1.new"
	# Maven runs for seconds, too short for Java's second compiler to pay.
	MAVEN_OPTS="-XX:+UseSerialGC -XX:TieredStopAtLevel=1 ${MAVEN_OPTS:-}" \
		mvn -B -q -Dstyle.color=never -f "$2" dependency:copy-dependencies -DoutputDirectory="$1.new" ||
		leave_out "$suite" "Maven could not fetch its jars; its words are above"
	if ! holds "$1.new" "$3"; then
		echo "what Maven fetched is not what $3 lists: after a change of $2, write that file anew" >&2
		exit 1
	fi
	mv "$1.new" "$1"
}
