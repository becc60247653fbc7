// Package clients runs real GraphQL clients and gateways, one in each folder, against the running
// service: they list the comments of a product, page on to the end, add, edit and delete one, and
// look at what their own caches then show. It has tests only. Package internal/clients/genqlient is
// a module of its own, so that its dependencies stay out of the program's.
package clients
