package httpapi

import (
	"fmt"
	"net/http"
	"time"
)

// strict tells browsers that came by HTTPS to come by it only (RFC 6797). Over plain HTTP the header means nothing, so a proxy that
// ends TLS has to set it.
func (o Options) strict(next http.Handler) http.Handler {
	if o.HSTSAge <= 0 {
		return next
	}
	value := fmt.Sprintf("max-age=%d", o.HSTSAge/time.Second)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.TLS != nil {
			w.Header().Set("Strict-Transport-Security", value)
		}
		next.ServeHTTP(w, r)
	})
}
