package product

// shown makes the view of an answer.
func (t *texts) shown(s state, a answer) view {
	v := view{Lang: t.lang, Dir: t.dir(), WritingOff: a.viewer().CannotWriteReason == "WRITING_OFF"}
	p := a.Data.Product
	if p == nil {
		v.Error = t.failure(s, a.code("product"))
		return v
	}
	if p.empty() {
		v.Empty = &noticeView{Text: t.say("empty.product")}
		v.Plan = t.plan(p.List)
		return v
	}
	v.Summary, v.Filters = t.summary(s, p), t.filters(s, p)
	if p.List == nil {
		v.Error = t.failure(s, a.code("product", "list"))
		return v
	}
	v.Highlights, v.Result, v.Pages, v.Plan = t.highlights(p), t.result(s, p), t.pages(s, p.List), t.plan(p.List)
	if len(p.List.Nodes) == 0 {
		v.Empty = t.empty(s, p.List)
	} else {
		v.List = t.list(p.List, a.viewer().CannotVoteReason == "VISITOR_TOKEN_REQUIRED")
	}
	return v
}
