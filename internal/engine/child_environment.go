package engine

import "os"

// passedVariables are the environment variables that children get: the paths of programs and
// temporary files, with their Unix and Windows names, and the settings for texts and times. Any
// other may hold a secret, such as a token, a key or AWS credentials. Secrets must not end up in
// the memory and the crash reports of a third-party program.
var passedVariables = []string{"PATH", "HOME", "TMPDIR", "LANG", "LC_ALL", "TZ", "SystemRoot", "TEMP", "TMP"}

// childEnvironment returns that of children. It is never nil: os/exec would then pass all of ours.
func childEnvironment() []string {
	variables := []string{}
	for _, name := range passedVariables {
		if value, set := os.LookupEnv(name); set {
			variables = append(variables, name+"="+value)
		}
	}
	return variables
}
