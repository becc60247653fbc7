// Package component is the folder of the element <talkback-comments>, which is written in TypeScript
// and built into dist. It has tests only: they run the element in a browser, against a stand-in for
// the API.
package component
