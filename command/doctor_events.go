package command

import (
	"context"
	"strings"
	"time"

	"github.com/talkback/talkback/internal/doctor"
	"github.com/talkback/talkback/internal/webhooks"
	"github.com/talkback/talkback/live"
	"github.com/talkback/talkback/stream"
)

// lateHook is from when on somebody should see why a hook is behind.
const lateHook = 15 * time.Minute

// eventFindings checks hooks and subscriptions, if there are any. A process like this one delivers to
// hooks, or serves subscriptions, if that is said.
func eventFindings(ctx context.Context, session *Session, now status, delivers, serves bool, words func(error) string) (all []doctor.Finding) {
	store := hooksOf(session)
	hooks, err := store.States(ctx)
	if err != nil {
		return []doctor.Finding{doctor.New("hooks", doctor.Unknown, "%s", words(err))}
	}
	for _, h := range hooks {
		var refused error // here
		if delivers {
			refused = newSender().Ready(h.Hook)
		}
		dead := false
		for _, err := range store.DeadLetters(ctx, h.Hook.ID) {
			dead = err == nil
			break
		}
		all = append(all, hookFindings(h, refused, dead, now.now)...)
	}
	wanted, err := session.outbox().Wanted(ctx)
	if err != nil {
		return append(all, doctor.New("events", doctor.Unknown, "%s", words(err)))
	}
	if _, follows := wanted[live.Use]; follows || serves || len(hooks) > 0 {
		all = append(all, now.ofEvents())
	}
	return all
}

// ofEvents says whether somebody writes events, where somebody wants them.
func (s status) ofEvents() doctor.Finding {
	const check = "events"
	written := !s.state.Scheduled.IsZero() && s.now.Sub(s.state.Scheduled) <= stream.ScheduleLate
	for _, lease := range s.leases {
		written = written || lease.Owner != ""
	}
	if !written {
		return doctor.New(check, doctor.Problem, "hooks and subscribers are told of nothing, as no process reads the stream").
			Cured("run talkback serve or talkback stream, or count with AWS Lambda")
	}
	return doctor.New(check, doctor.OK, "are written for those who want them")
}

// hookFindings says how a hook is. refused is why this process could not deliver it, dead whether it has
// dead letters.
func hookFindings(h webhooks.State, refused error, dead bool, now time.Time) (all []doctor.Finding) {
	check, id, sum, lag := "hook "+h.Hook.ID, h.Hook.ID, h.Progress.Sum(), h.Lag(now).Round(time.Second)
	add := func(result doctor.Result, cure, found string, values ...any) {
		all = append(all, doctor.New(check, result, found, values...).Cured("%s", cure))
	}
	switch {
	case h.Hook.Paused:
		add(doctor.Warning, "talkback hooks resume "+id+"; events are kept for 14 days", "is paused, and %v behind", lag)
	case h.Progress.Who == "":
		add(doctor.Problem, "start talkback serve or talkback stream with "+h.Hook.SecretEnv+" in its environment", "is delivered by no process, and %v behind", lag)
	case sum.Attempts > 0:
		add(doctor.Warning, "see to its receiver; talkback hooks test "+id+" tries it", "fails, and is %v behind: %s", lag, sum.LastError)
	case lag > lateHook:
		add(doctor.Warning, "have its receiver answer first, and work afterwards", "is %v behind", lag)
	}
	if dead {
		add(doctor.Warning, "talkback hooks dead "+id+" lists them, and talkback hooks redeliver "+id+" tries them once more", "refused events for too long, which were given up")
	}
	if refused != nil {
		found, _, _ := strings.Cut(refused.Error(), ": ")
		add(doctor.Warning, "set it for the server, which else leaves the hook to others", "%s", found)
	}
	if len(all) == 0 {
		all = append(all, doctor.New(check, doctor.OK, "has %d events delivered", sum.Delivered))
	}
	return all
}
