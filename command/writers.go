package command

import (
	"context"
	"log/slog"
	"net"
	"slices"
	"strings"

	"github.com/talkback/talkback/auth"
	"github.com/talkback/talkback/httpapi"
)

// WriterFlags say who may write.
type WriterFlags struct {
	ModeratorToken string `help:"Bearer token of moderators, who may change anything. Set it in the environment: flags are visible to everyone on the machine." placeholder:"TOKEN"`
	JWTAlgorithm   string `name:"jwt-algorithm" help:"Algorithm of signed tokens (JWT): EdDSA, RS256, ES256 or HS256. The subject of a token is the author id." placeholder:"NAME"`
	JWTKey         string `name:"jwt-key" help:"Public key of signed tokens in PEM, or the shared secret of HS256. Set it in the environment." placeholder:"KEY"`
	JWKSURL        string `name:"jwks-url" help:"URL of the key set (JWKS) of signed tokens." placeholder:"URL"`
	JWTIssuer      string `name:"jwt-issuer" help:"Required issuer of signed tokens." placeholder:"NAME"`
	JWTAudience    string `name:"jwt-audience" help:"Required audience of signed tokens." placeholder:"NAME"`
	RolesClaim     string `help:"Claim of signed tokens that lists roles (moderator, merchant, shop), or its path, such as realm_access.roles. Without it, signed tokens have no roles." placeholder:"NAME"`
	VisitorVotes   bool   `help:"Let visitors without an account vote about comments, with tokens that the server makes."`
	VisitorSecret  string `help:"Secret that signs visitors' tokens, the same on all servers. Set it in the environment." placeholder:"SECRET"`
}

// authorizer returns what decides who may write and vote. The notice says who may.
func (f WriterFlags) authorizer(ctx context.Context, address net.Addr, origins []httpapi.Origin, log *slog.Logger) (who auth.Authorizer, notice string, err error) {
	who, notice, err = f.writers(ctx, address, origins, log)
	switch {
	case err != nil:
		return nil, "", err
	case !f.VisitorVotes && f.VisitorSecret != "":
		return nil, "", usagef("visitors have a secret and may not vote: give --visitor-votes, or unset TALKBACK_VISITOR_SECRET")
	case !f.VisitorVotes:
		return who, notice, nil
	case f.VisitorSecret == "":
		return nil, "", usagef("--visitor-votes needs a secret that signs visitors' tokens: set TALKBACK_VISITOR_SECRET to what openssl rand -hex 32 prints")
	case f.VisitorSecret == f.ModeratorToken || f.VisitorSecret == f.JWTKey:
		return nil, "", usagef("the secret of visitors is used for other tokens too: make another for TALKBACK_VISITOR_SECRET, for instance by: openssl rand -hex 32")
	}
	visitors, err := auth.NewVisitors(who, f.VisitorSecret, nil)
	if err != nil {
		return nil, "", usage(err)
	}
	return visitors, notice + "; visitors may vote", nil
}

// writers returns what decides who may write. Without tokens, writing is open to this machine,
// and so to pages of the origins in its browsers, and closed if the server listens to other
// machines. The notice says which.
func (f WriterFlags) writers(ctx context.Context, address net.Addr, origins []httpapi.Origin, log *slog.Logger) (who auth.Authorizer, notice string, err error) {
	guard, err := auth.New(ctx, auth.Settings{
		ModeratorToken: f.ModeratorToken,
		Algorithm:      f.JWTAlgorithm,
		Key:            f.JWTKey,
		JWKS:           f.JWKSURL,
		Issuer:         f.JWTIssuer,
		Audience:       f.JWTAudience,
		RolesClaim:     f.RolesClaim,
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
