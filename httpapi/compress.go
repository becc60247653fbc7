package httpapi

import (
	"net/http"

	"github.com/klauspost/compress/gzhttp"
	"github.com/klauspost/compress/gzip"
)

// minCompressed is the size of the smallest answer that is compressed, in bytes. A smaller one fits
// into one packet anyway.
const minCompressed = 1024

// compressed gzips answers for clients that accept gzip, as all do that accept zstd. Pages do not
// pass through it: they are compressed already.
func compressed(next http.Handler) http.Handler {
	wrap, err := gzhttp.NewWrapper(gzhttp.MinSize(minCompressed), gzhttp.CompressionLevel(gzip.BestSpeed), gzhttp.EnableZstd(false))
	if err != nil {
		panic(err) // the options are constants
	}
	return wrap(next)
}
