// Package frameworks tries the element in the frameworks that shops use. It makes, packs and installs
// the npm package of web/package, builds the apps that the guides show, and drives each in a browser
// against the whole service. It has tests only.
package frameworks
