package product

import "time"

// averageStars are the stars of an average, which has one decimal.
func (t *texts) averageStars(average float64) starsView {
	return starsView{tenths(average), t.say("stars.of", "n", t.decimal(tenths(average)))}
}

func (t *texts) highlights(p *product) []highlightView {
	var all []highlightView
	add := func(class, heading string, c *comment) {
		if c != nil {
			if c.Votes.Helpful > c.Votes.NotHelpful {
				heading += ".helpful"
			}
			shown := t.comment(*c)
			shown.ID, shown.Media, shown.Reply = "", nil, nil
			all = append(all, highlightView{class, t.say(heading), shown})
		}
	}
	add("praise", "praise", p.Praise)
	add("complaint", "complaint", p.Complaint)
	return all
}

// list makes the view of a list. If all visitors may vote, room is kept for their buttons.
func (t *texts) list(l *list, voting bool) *listView {
	v := &listView{}
	if l.PageNumber != nil {
		v.Start = (*l.PageNumber-1)*pageSize + 1
	}
	for _, c := range l.Nodes {
		shown := t.comment(c)
		shown.Voting = voting
		v.Comments = append(v.Comments, shown)
	}
	return v
}

func (t *texts) comment(c comment) commentView {
	v := commentView{
		ID: c.ID, Version: c.Version, Stars: starsView{10 * c.Rating, t.say("stars.of", "n", t.number(c.Rating))}, Language: c.Language, Text: c.Text,
		Author: c.Author.Name, DateTime: dateTime(c.CreatedAt), Date: t.date(c.CreatedAt),
		Edited: c.UpdatedAt != nil, Autonym: t.languageName(c.Language), Verified: c.Verified,
	}
	if c.Title != nil {
		v.Title = *c.Title
	}
	if c.Votes.Helpful > 0 {
		v.Helpful = t.say("helpful", "n", t.number(c.Votes.Helpful))
	}
	for i, m := range c.Media {
		v.Media = append(v.Media, mediaView{m.URL, t.nameOf(m, i), m.isVideo()})
	}
	if c.Reply != nil {
		v.Reply = &replyView{
			t.say("reply.by", "name", c.Reply.Name), c.Reply.Text, dateTime(c.Reply.CreatedAt), t.date(c.Reply.CreatedAt), c.Reply.UpdatedAt != nil,
		}
	}
	return v
}

// nameOf is what a picture shows, or else its number.
func (t *texts) nameOf(m media, at int) string {
	switch n := t.number(at + 1); {
	case m.Alt != "":
		return m.Alt
	case m.isVideo():
		return t.say("media.video", "n", n)
	default:
		return t.say("media.picture", "n", n)
	}
}

// dateTime is a time as an attribute has it.
func dateTime(at time.Time) string { return at.UTC().Format("2006-01-02T15:04:05.000Z") }
