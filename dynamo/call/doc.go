// Package call makes calls to DynamoDB: it has the clients, retries, hedged reads and parallel
// calls, and gives errors of the SDK a kind.
package call
