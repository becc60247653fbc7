package product

import (
	"errors"
	"net/url"
	"strings"
)

// hole is the placeholder of a product's id.
const hole = "{id}"

// address is a template of addresses, cut before its question mark.
type address struct{ path, query string }

// parseAddress reads a template.
func parseAddress(template string, inside bool) (address, error) {
	path, query, asks := strings.Cut(template, "?")
	if asks {
		query = "?" + query
	}
	a := address{path, query}
	one, err := url.Parse(a.of("1"))
	two, err2 := url.Parse(a.of("2"))
	switch {
	case errors.Join(err, err2) != nil || one.Host == "" || one.Scheme != "https" && one.Scheme != "http":
		return address{}, errors.New("--product-info is no address: give one such as https://shop.example/products/{id}")
	case one.Host != two.Host || one.User.String() != two.User.String() || one.RequestURI() == two.RequestURI():
		return address{}, errors.New("--product-info has to hold {id} in its path or query, in place of a product's id, such as https://shop.example/products/{id}")
	case one.Scheme == "http" && !inside:
		return address{}, errors.New("--product-info is not safe: names that come by plain HTTP could be changed on their way; give an address that begins with https, or allow a machine inside with --product-info-inside")
	}
	return a, nil
}

// of returns the address of a product. An id is one segment of the path, or a value of the query.
func (a address) of(id string) string {
	return strings.ReplaceAll(a.path, hole, url.PathEscape(id)) + strings.ReplaceAll(a.query, hole, url.QueryEscape(id))
}
