package httpapi

import (
	"fmt"
	"net/http"
	"time"
)

// strict tells browsers that came by HTTPS to use HTTPS only, until age has passed (RFC 6797). Zero
// tells them nothing. Browsers ignore the header over plain HTTP, so a proxy that terminates TLS
// has to set it.
func strict(age time.Duration) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		if age <= 0 {
			return next
		}
		value := fmt.Sprintf("max-age=%d", age/time.Second)
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.TLS != nil {
				w.Header().Set("Strict-Transport-Security", value)
			}
			next.ServeHTTP(w, r)
		})
	}
}
