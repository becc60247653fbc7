package command

import (
	"context"
	"log/slog"
	"net"
	"slices"
	"strings"

	"github.com/talkback/talkback/auth"
	"github.com/talkback/talkback/auth/authoring"
	"github.com/talkback/talkback/httpapi"
)

// WriterFlags say who may write.
type WriterFlags struct {
	ModeratorToken string `help:"Bearer token of those who may change anything. Better given by the environment than here, where everyone on the machine sees it." placeholder:"TOKEN"`
	JWTAlgorithm   string `name:"jwt-algorithm" help:"Algorithm of authors' signed tokens: EdDSA, RS256, ES256 or HS256. The token's subject is the author's id." placeholder:"NAME"`
	JWTKey         string `name:"jwt-key" help:"Public key of signed tokens in PEM, or the shared secret of HS256. Likewise better given by the environment." placeholder:"KEY"`
	JWKSURL        string `name:"jwks-url" help:"Address of the keys of signed tokens." placeholder:"URL"`
	JWTIssuer      string `name:"jwt-issuer" help:"Issuer that signed tokens must have." placeholder:"NAME"`
	JWTAudience    string `name:"jwt-audience" help:"Audience that signed tokens must have." placeholder:"NAME"`
}

// authorizer is who decides about writing at an address that pages of some origins may ask. Without tokens, writing is open to the
// machine itself, and so to those pages in its browsers, and closed to everyone else. The notice says which it is.
func (f WriterFlags) authorizer(ctx context.Context, address net.Addr, origins []httpapi.Origin, log *slog.Logger) (who authoring.Authorizer, notice string, err error) {
	guard, err := auth.New(ctx, auth.Settings{
		ModeratorToken: f.ModeratorToken,
		Algorithm:      f.JWTAlgorithm,
		Key:            f.JWTKey,
		JWKS:           f.JWKSURL,
		Issuer:         f.JWTIssuer,
		Audience:       f.JWTAudience,
		Logger:         log,
	})
	switch {
	case err != nil:
		return nil, "", usage(err)
	case !guard.Open():
		return guard, "needs a token", nil
	case !isLoopback(address):
		return auth.Closed{}, "is off, since no tokens are configured and the server listens to more than this machine: set TALKBACK_MODERATOR_TOKEN to what openssl rand -hex 32 prints, or give --jwt-algorithm and a key", nil
	case slices.Contains(origins, httpapi.AnyOrigin):
		return nil, "", usagef("--cors-origin * without tokens would let every web page that a browser on this machine opens write: set TALKBACK_MODERATOR_TOKEN to what openssl rand -hex 32 prints, give --jwt-algorithm and a key, or name the origins")
	}
	return guard, "is open to everyone on this machine" + andPages(origins) + ", since no tokens are configured", nil
}

// andPages names the origins whose pages may write too.
func andPages(origins []httpapi.Origin) string {
	var names []string
	for _, origin := range origins {
		names = append(names, string(origin))
	}
	if names == nil {
		return ""
	}
	return " and to pages of " + strings.Join(names, ", ")
}

func isLoopback(address net.Addr) bool {
	tcp, ok := address.(*net.TCPAddr)
	return ok && tcp.IP.IsLoopback()
}
