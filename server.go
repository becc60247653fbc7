// Talkback serves the comments of a shop's products: a GraphQL API over one DynamoDB table. See
// README.md.
package main

import (
	"os"

	"github.com/talkback/talkback/command"
)

func main() {
	ctx, stop := command.Signals()
	defer stop()
	os.Exit(command.Main(ctx, os.Args[1:], command.StandardTerminal()))
}
