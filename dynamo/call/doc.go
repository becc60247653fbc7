// Package call is how DynamoDB is called: the clients, which calls are made again and after how long, hedged reads, many
// calls side by side, and what an error of the SDK means to a caller.
package call
