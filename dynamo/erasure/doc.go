// Package erasure erases everything that a table holds about an author, and keeps imports from bringing
// it back. An [Eraser] does so as work that any process takes over, with an item for each author. A mark
// stays: [Marks] tell an import which authors to leave out.
package erasure
