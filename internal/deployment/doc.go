// Package deployment holds the files of infra that start several servers to what they claim:
// compose.yml, and the resources for Kubernetes.
//
// No container runs in its tests. Compose's own library reads the one file, and a table of all kinds
// of resources checks the others; then the processes that they describe are started side by side,
// with the arguments and the environment from the files.
package deployment
