// Package endtoend takes a real browser through the pages of a real server: the whole program, with
// its table on the local engine. The browser uses product pages by mouse and keyboard, without
// JavaScript, in trouble, and inside a page of another origin. It has tests only.
package endtoend
