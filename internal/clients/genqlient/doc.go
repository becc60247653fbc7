// Package genqlient asks the API through a client that genqlient generates from the schema.
package genqlient

//go:generate go tool genqlient
