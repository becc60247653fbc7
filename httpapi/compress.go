package httpapi

import (
	"net/http"

	"github.com/klauspost/compress/gzhttp"
	"github.com/klauspost/compress/gzip"
)

// minCompressed is the size from which on an answer is compressed, in bytes: what is smaller fits into one packet anyway.
const minCompressed = 1024

// compressed gzips answers for those who take gzip. The pages are packed already and do not come through here.
func compressed(next http.Handler) http.Handler {
	wrap, err := gzhttp.NewWrapper(gzhttp.MinSize(minCompressed), gzhttp.CompressionLevel(gzip.BestSpeed))
	if err != nil {
		panic(err) // the options are constants
	}
	return wrap(next)
}
