// Package dynamo reads and writes the comments of one DynamoDB table. Its [Store] answers queries;
// the packages below it hold what a Store is made of: layout (what is stored), capacity (what reads
// cost), call (how DynamoDB is called), planner (which partitions a query reads), merge (sorted
// reads to one list), counts (statistics and leaderboards) and leases (who reads the stream).
//
// To follow a query, read comments.go, then listing.go, which plans and executes one page, run.go,
// which executes one plan wave by wave, and explain.go. place.go finds a page by its number, and
// lookup.go asks the index of page numbers. count.go counts the list beside the page, moved.go adds
// comments that an edit moved while the page was read, and input.go turns a read of a plan into a
// call of the SDK.
//
// A Store remembers hints for its plans: memory.go has statistics, sizes.go how large comments are,
// recent.go what pages held, attempts.go which plans were given up. flight.go shares a page among
// the callers who want it at the same time, pages.go is the page cache, and changes.go and
// noticing.go tell when a page is too old for either.
//
// write.go changes single comments, load.go many, get.go fetches by id, and export.go reads all of
// them. setup.go creates and checks the table.
package dynamo
