// Package disk tells how much room there is for the files of a folder.
package disk
