// Talkback serves the comments of a shop's products: a GraphQL API over one DynamoDB table. See
// README.md.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/talkback/talkback/command"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(command.Main(ctx, os.Args[1:], command.StandardTerminal()))
}
