// Package endtoend takes a real browser through the pages of a real server: the whole program, its
// table on the local engine, a product page by mouse and by keyboard, without JavaScript, in
// trouble, and inside a page of another origin. It has only tests.
package endtoend
