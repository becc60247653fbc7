package comment

// ReplyDraft is a reply to be written in the shop's name.
type ReplyDraft struct {
	CommentID string
	// Version is that of the reply that is edited, 0 for a first reply.
	Version int
	Text    string
	// Name is the name to show. If it is nil, the reply keeps its name; a first reply gets the shop's.
	Name *string
}

// Problems returns all problems of a reply that is to be written, at once.
func (r Reply) Problems() []Problem {
	var p problems
	text, name := []string{"text"}, []string{"name"}
	if IsBlank(r.Text) {
		p.add(ProblemEmpty, text, "a reply needs a text; deleteReply removes one")
	}
	p.plain(text, r.Text, MaxReply)
	if IsBlank(r.Name) {
		p.add(ProblemEmpty, name, "a reply needs a name to show: give one, or start the server with --shop-name")
	}
	p.plain(name, r.Name, maxDraftName)
	return p
}
