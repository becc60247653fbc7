package auth

import (
	"errors"

	"github.com/talkback/talkback/comment"
)

// problemOf lists the kinds of errors that are problems of the input.
var problemOf = map[comment.Kind]struct {
	code comment.ProblemCode
	path []string
}{
	comment.BadInput:  {comment.ProblemMalformed, []string{"id"}},
	comment.NotFound:  {comment.ProblemNotFound, []string{"id"}},
	comment.Conflict:  {comment.ProblemConflict, []string{"version"}},
	comment.KeyReused: {comment.ProblemKeyReused, []string{"idempotencyKey"}},

	comment.AlreadyWritten: {comment.ProblemAlreadyWritten, []string{"productId"}},
}

// outcome turns errors that problemOf lists into problems.
func outcome(c comment.Comment, err error) (comment.Comment, []comment.Problem, error) {
	if err == nil {
		return c, nil, nil
	}
	concern, ok := problemOf[comment.KindOf(err)]
	if !ok {
		return comment.Comment{}, nil, err
	}
	problem := comment.Problem{Code: concern.code, Message: comment.MessageOf(err), Path: concern.path}
	if known, ok := errors.AsType[*comment.Error](err); ok && known.Earlier != "" {
		earlier := comment.ID(known.Earlier)
		problem.CommentID = &earlier
	}
	return comment.Comment{}, []comment.Problem{problem}, nil
}
