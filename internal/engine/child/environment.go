package child

import "os"

// passed are the variables of our environment that children get: where programs and temporary files are,
// by the names of Unix and Windows, and how this system writes text and time. Any other may be a secret of
// ours, such as a token, a key or AWS credentials, which has no business in the memory and the crash
// reports of another maker's program.
var passed = []string{"PATH", "HOME", "TMPDIR", "LANG", "LC_ALL", "TZ", "SystemRoot", "TEMP", "TMP"}

// environment is what a child starts with. It is never nil, which os/exec would take to mean all of
// ours.
func environment() []string {
	variables := []string{}
	for _, name := range passed {
		if value, set := os.LookupEnv(name); set {
			variables = append(variables, name+"="+value)
		}
	}
	return variables
}
