package auth

import (
	"strings"

	"github.com/talkback/talkback/comment"
)

// roleNames are the roles as a claim names them, in this case alone.
var roleNames = map[string]comment.Roles{
	"moderator": comment.Moderator,
	"merchant":  comment.Merchant,
	"shop":      comment.Shop,
}

// readRoles returns the roles that a claim lists, none if the token lacks it. Other names are
// ignored: issuers make tokens for several services. It is not ok if the claim is there and is not
// a list of strings.
func readRoles(claims map[string]any, name string) (roles comment.Roles, ok bool) {
	value, there := lookUp(claims, name)
	if !there {
		return 0, true
	}
	list, isList := value.([]any)
	for _, entry := range list {
		role, isText := entry.(string)
		if !isText {
			return 0, false
		}
		roles |= roleNames[role]
	}
	return roles, isList
}

// lookUp returns the claim with a name or, if there is none, the value at the end of the path that
// the name is, such as realm_access.roles. A path through something other than an object is there,
// and leads to nil.
func lookUp(claims map[string]any, name string) (value any, there bool) {
	if value, there = claims[name]; there {
		return value, true
	}
	value = claims
	for step := range strings.SplitSeq(name, ".") {
		object, isObject := value.(map[string]any)
		if !isObject {
			return nil, true
		}
		if value, there = object[step]; !there {
			return nil, false
		}
	}
	return value, true
}
