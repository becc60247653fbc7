package auth

import "github.com/talkback/talkback/comment"

// refuse returns a sender that may not write anything, and the error that a mutation tells it.
func refuse(reason comment.CannotWriteReason, err error) (comment.Viewer, error) {
	return comment.Viewer{CannotWriteReason: &reason}, err
}

// refuseWithoutToken refuses a request that has no token.
func refuseWithoutToken() (comment.Viewer, error) {
	return refuse(comment.TokenRequired, comment.Errorf(comment.Unauthenticated, "writing needs a token: send the header Authorization: Bearer TOKEN"))
}

// refuseToken refuses a request with a token that does not hold.
func refuseToken() (comment.Viewer, error) {
	return refuse(comment.TokenRefused, comment.Errorf(comment.Unauthenticated, "the token is not valid, or no longer: get a new one"))
}

// refuseElsewhere refuses a request from elsewhere to a server without tokens.
func refuseElsewhere(why string) (comment.Viewer, error) {
	return refuse(comment.WritingOff, comment.Errorf(comment.Forbidden, "without tokens, only this machine may write, and %s: give the server tokens to accept (--moderator-token, or --jwt-algorithm with a key), or ask http://localhost itself", why))
}

// refuseAll refuses every request to a server without tokens that is open to other machines.
func refuseAll() (comment.Viewer, error) {
	return refuse(comment.WritingOff, comment.Errorf(comment.Forbidden, "writing is off: this server was given no tokens to accept, and is open to more than its own machine"))
}
