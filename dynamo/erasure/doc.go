// Package erasure erases all data about an author in a table, and keeps imports from adding it
// again. An [Eraser] does the work, with an item for each author, so that another process can take
// it over. A mark of each erased author stays: by [Marks], imports leave out their comments.
package erasure
