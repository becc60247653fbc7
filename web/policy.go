package web

const (
	// homePolicy lets the home page have its style sheet, its picture and the script that copies,
	// and nothing else.
	homePolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; " +
		"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

	// productPolicy lets a product page have the element's script, which asks the API, and what a layout
	// of the shop has on this host: style sheets, scripts, pictures, fonts, and a form such as a search. The verbs are the hash of the one style that stands in the page, and where
	// pictures and videos are.
	productPolicy = "default-src 'none'; script-src 'self'; style-src 'self' '%s'; img-src 'self'%s; font-src 'self'; connect-src 'self'; " +
		"base-uri 'none'; form-action 'self'; frame-ancestors 'none'"

	// deskPolicy lets the page for moderators ask the API by its script. A form that the script does not
	// handle goes nowhere, so a token never stands in an address. The verb is where pictures are.
	deskPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'%s; connect-src 'self'; " +
		"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

	// explorerPolicy is as narrow as the editor allows: it sets styles of elements as it goes,
	// shows icons of a font and of data: addresses, and runs workers. No script but those of this
	// host, and none inline.
	explorerPolicy = "default-src 'none'; script-src 'self'; worker-src 'self'; style-src 'self' 'unsafe-inline'; " +
		"font-src 'self' data:; img-src 'self' data:; connect-src 'self'; " +
		"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

	// mustAsk makes a browser ask each time whether what it has is still current; the ETag makes
	// that cheap.
	mustAsk = "no-cache"

	// forGood is for files whose names change with their content.
	forGood = "public, max-age=31536000, immutable"
)
