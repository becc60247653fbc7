package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/httpapi"
	"github.com/talkback/talkback/internal/output"
	"github.com/talkback/talkback/internal/webhooks"
	"github.com/talkback/talkback/live"
	"github.com/talkback/talkback/pageindex/keeper"
	"github.com/talkback/talkback/quota"
	"github.com/talkback/talkback/stream"
)

// Doctor checks that a server with the same flags could work. It changes nothing in the table.
type Doctor struct {
	ListenFlags
	PagesFlag

	NoCount        bool   `help:"Check for a server that does not count comments, which needs fewer permissions."`
	MaxConnections uint32 `help:"Number of open connections that the server shall allow (default: ${default})." type:"positive" placeholder:"N" default:"${max_connections}"`
	JSON           bool   `name:"json" help:"Print the findings as a JSON array."`

	Writers       WriterFlags       `embed:"" group:"Who may write:"`
	Clients       ClientFlags       `embed:"" group:"What each client may use over time:"`
	Subscriptions SubscriptionFlags `embed:"" group:"What clients may follow:"`
}

// Validate returns an error where a server does not start.
func (c *Doctor) Validate() error { return c.Subscriptions.check() }

// doctorTimeout bounds all checks together. A table that has not answered by then is a finding.
const doctorTimeout = time.Minute

// Run prints the findings of all checks. A problem makes it return an error, a warning does not.
func (c *Doctor) Run(ctx context.Context, flags *EngineFlags, term Terminal) error {
	target, err := c.PagesFlag.target()
	if err != nil {
		return err
	}
	if err := flags.check(); err != nil {
		return err
	}
	asked := ctx
	ctx, cancel := context.WithTimeout(ctx, doctorTimeout)
	defer cancel()
	all := c.ofMachine(ctx, flags, term)
	session, err := flags.connect(ctx, Opening{Owner: "talkback doctor"}, term)
	if err == nil {
		err = session.watch(ctx, func(ctx context.Context) error {
			all = append(all, c.ofSession(ctx, session, target, term)...)
			return nil
		})
		err = errors.Join(err, session.Close())
	}
	if err != nil {
		all = append(all, newFinding("engine", resultProblem, "%s", plainly(err, term.Logger)).cured("see to this first, then run talkback doctor again"))
	}
	if asked.Err() != nil { // what was not checked is no finding
		return errors.New("the checks were interrupted; run it again")
	}
	if c.JSON {
		err = printJSON(term.Out, all)
	} else {
		_, err = io.WriteString(term.Out, findingsText(all, output.ScreenOf(term.Out)))
	}
	if err != nil {
		return err
	}
	if problems := countFindings(all, resultProblem); problems > 0 {
		return fmt.Errorf("problems found: %d", problems)
	}
	return nil
}

// ofMachine checks this machine and the flags, not the table.
func (c *Doctor) ofMachine(ctx context.Context, flags *EngineFlags, term Terminal) []finding {
	var all []finding
	if pair, err := c.certificate(); err != nil {
		all = append(all, newFinding("certificate", resultProblem, "%v", err))
	} else if pair != nil {
		all = append(all, checkCertificate(pair.Leaf, time.Now()))
	}
	if address, err := net.ResolveTCPAddr("tcp", c.Listen); err != nil {
		all = append(all, newFinding("address", resultProblem, "--listen %s is not an address: give host and port, such as 127.0.0.1:8080", c.Listen))
	} else {
		all = append(all, c.writing(ctx, address, term)...)
		all = append(all, c.Clients.examine(ctx, address, c.Writers.VisitorVotes, flags.Table, term.Logger))
	}
	wanted := int(c.MaxConnections) + int(c.Subscriptions.Max)
	if allowed := connectionLimit(wanted); allowed < wanted {
		result := resultWarning
		if c.Subscriptions.Max > 0 {
			result = resultProblem // the server does not start
		}
		all = append(all, newFinding("file descriptors", result, "allow %d connections instead of %d", allowed, wanted).
			cured("raise the limit of open files (ulimit -n, or LimitNOFILE of systemd)"))
	} else {
		all = append(all, newFinding("file descriptors", resultOK, "allow %d connections", allowed))
	}
	if flags.local() {
		all = append(all, checkFolder(flags.Data))
	}
	return all
}

// writing checks who may write. Each warning that a server would log is a finding.
func (c *Doctor) writing(ctx context.Context, address net.Addr, term Terminal) (all []finding) {
	const check = "writing"
	log := slog.New(warning{term.Logger.Handler(), func(said, cure string) {
		all = append(all, newFinding(check, resultWarning, "%s", said).cured("%s", cure))
	}})
	_, notice, err := c.Writers.authorizer(ctx, address, nil, log)
	_, writes, _ := c.Clients.policies(address, c.Writers.VisitorVotes)
	switch {
	case err != nil:
		return append(all, newFinding(check, resultProblem, "%v", err))
	case strings.HasPrefix(notice, "is off"):
		what, cure, _ := strings.Cut(notice, ": ")
		cure = strings.TrimSuffix(cure, visitorsToo)
		return append(all, newFinding(check, resultWarning, "%s", what).cured("%s", cure))
	case c.Writers.VisitorVotes && writes.Rate == 0:
		return append(all, newFinding(check, resultWarning, "visitors may vote, each address any number of times").cured("leave --client-writes 0 out"))
	case len(all) == 0:
		return append(all, newFinding(check, resultOK, "%s", notice))
	}
	return all
}

// warning passes records of the log to found, and does not log them.
type warning struct {
	slog.Handler
	found func(said, cure string)
}

// Enabled implements slog.Handler: a finding does not depend on the level of the log.
func (w warning) Enabled(context.Context, slog.Level) bool { return true }

// Handle implements slog.Handler. Only warnings about --jwks-url name no cure: a server fetches the
// keys again by itself.
func (w warning) Handle(_ context.Context, r slog.Record) error {
	said, cure := r.Message, "see that this machine reaches the address of --jwks-url, and that a key set for --jwt-algorithm is there"
	r.Attrs(func(a slog.Attr) bool {
		if a.Key == "cure" {
			cure = a.Value.String()
		} else {
			said += " (" + a.Value.String() + ")"
		}
		return true
	})
	w.found(said, cure)
	return nil
}

// ofSession checks the table, and the stored counts and page numbers.
func (c *Doctor) ofSession(ctx context.Context, session *Session, target keeper.Target, term Terminal) []finding {
	examiner := examiner{
		Client: session.Client, Table: session.Table,
		Source: stream.NewSource(stream.NewClient(session.Client), session.Client, session.Table),
		Words:  func(err error) string { return plainly(unreached(err, session), term.Logger) },
	}
	all, there := examiner.shape(ctx, session.AWS)
	if !there {
		return all
	}
	all = append(all, examiner.permissions(ctx, !c.NoCount)...)
	if !c.NoCount {
		all = append(all, examiner.ofStream(ctx)...)
	}
	pages, err := openPages(ctx, target, session, term.Logger)
	if err != nil {
		all = append(all, newFinding("page numbers", resultProblem, "%v", err))
		pages, _ = openPages(ctx, keeper.Target{Name: keeper.Nowhere}, session, term.Logger) // opens nothing, so it cannot fail
	}
	now, err := readStatus(ctx, session, pages)
	if err = errors.Join(err, pages.Close()); err != nil {
		return append(all, newFinding("counts", resultUnknown, "%s", plainly(err, term.Logger)))
	}
	return append(append(all, now.findings()...), eventFindings(ctx, session, now, !c.NoCount, c.Subscriptions.Max > 0, examiner.Words)...)
}

const lateCounts = time.Minute

// findings returns the findings that follow from a status.
func (s status) findings() []finding {
	all := []finding{s.ofCounts()}
	if s.rebuild.Who != "" && s.rebuild.Interrupted {
		all = append(all, newFinding("rebuild", resultWarning, "%s", s.rebuildLine()))
	}
	idle := 0
	for _, lease := range s.leases {
		if lease.Owner == "" && !lease.Ended {
			idle++
		}
	}
	if idle > 0 && !s.byFunction() {
		all = append(all, newFinding("stream", resultWarning, "no process reads %d of %d shards", idle, len(s.leases)).
			cured("run talkback serve or talkback stream, or count with AWS Lambda"))
	}
	if dead := output.Count(len(s.deadLetters), "change", "changes"); len(s.deadLetters) > 0 {
		letters := newFinding("dead letters", resultProblem, "%s could not be counted: see talkback stream --status", dead).
			cured("correct or delete the items at the keys that it lists, then run talkback rebuild")
		if s.state.Complete { // a dead letter leaves a gap, which a rebuild has closed
			letters = newFinding("dead letters", resultWarning, "%s could not be counted; everything was counted again since", dead).
				cured("correct or delete the items that talkback verify calls invalid; if there are none, nothing: talkback stream --status lists a dead letter for 30 days")
		}
		all = append(all, letters)
	}
	for _, store := range s.pages {
		found := newFinding("page numbers", resultOK, "%s", s.pagesLine(store))
		switch {
		case store.Away != nil:
			found.Result, found.Cure = resultProblem, "start the store, or correct --pages, or what its user may do: docs/operate/page-numbers.md"
		case !store.Complete:
			found.Result = resultWarning
		}
		all = append(all, found)
	}
	return all
}

// ofCounts returns the finding about statistics: whether they are complete and recent.
func (s status) ofCounts() finding {
	const check = "counts"
	found, cure := s.headline()
	upTo, known := s.state.ProcessedUpTo(s.leases)
	switch {
	case s.state.Gap != nil:
		return newFinding(check, resultProblem, "%s", found).cured("%s", cure)
	case !s.state.Complete:
		return newFinding(check, resultWarning, "%s", found).cured("run talkback serve, talkback stream or talkback rebuild")
	case known && s.now.Sub(upTo) > lateCounts, !known && !s.state.Scheduled.IsZero() && s.now.Sub(s.state.Scheduled) > stream.ScheduleLate:
		return newFinding(check, resultWarning, "%s", found).cured("see docs/operate/monitor.md")
	case s.ahead():
		return newFinding(check, resultWarning, "%s", found).cured("set the clocks of all machines that count, and of this one, by NTP for example")
	}
	return newFinding(check, resultOK, "%s", found)
}

// findingsText formats findings for a screen: a table of all, then the cures.
func findingsText(all []finding, screen output.Screen) string {
	table := output.NewTable("CHECK", "RESULT", "FOUND")
	var cures strings.Builder
	for _, f := range all {
		result := screen.Notice(string(f.Result))
		if f.Result == resultOK {
			result = screen.Good(string(f.Result))
		}
		table.Row(f.Check, result, output.Printable(f.Found))
		if f.Cure != "" {
			fmt.Fprintf(&cures, "  %s: %s\n", f.Check, output.Printable(f.Cure))
		}
	}
	text := table.On(screen)
	if cures.Len() > 0 {
		text += "\n" + screen.Notice("What to do") + "\n" + screen.Fold(cures.String())
	}
	return text
}

const examineTimeout = 5 * time.Second

// examine checks the client limits, and the Redis that counts clients and remembers persisted
// queries, if there is one.
func (f *ClientFlags) examine(ctx context.Context, address net.Addr, visitorsVote bool, table string, log *slog.Logger) finding {
	const check = "client limits"
	reads, writes, err := f.policies(address, visitorsVote)
	limited := reads.Rate > 0 || writes.Rate > 0
	switch {
	case err != nil:
		return newFinding(check, resultProblem, "%v", err)
	case f.Redis == "" && !limited:
		return newFinding(check, resultOK, "none")
	case f.Redis == "":
		return newFinding(check, resultOK, "%s", inWords(reads, writes))
	}
	store, err := quota.OpenRedis(f.Redis, table)
	if err != nil {
		return newFinding(check, resultProblem, "--client-limits-redis: %s", comment.MessageOf(err))
	}
	defer func() { _ = store.Close() }() // nothing is left to be sent
	queries, err := httpapi.OpenQueriesInRedis(f.Redis, table, log)
	if err != nil {
		return newFinding(check, resultProblem, "--client-limits-redis: %s", comment.MessageOf(err))
	}
	defer func() { _ = queries.Close() }()
	ctx, cancel := context.WithTimeout(ctx, examineTimeout)
	defer cancel()
	away := func(err error, alone string) finding {
		return newFinding(check, resultWarning, "%s: each server %s by itself", comment.MessageOf(err), alone).
			cured("see to Redis, the network and the URL; what its user must be allowed is in docs/operate/limits.md")
	}
	does := " remembers persisted queries; there are no limits"
	if limited {
		version, took, err := store.Examine(ctx)
		switch {
		case err != nil:
			return away(err, "limits clients")
		case took > quota.Patience:
			return newFinding(check, resultWarning, "%s took %v to answer; servers wait %v and then limit clients by themselves", store.Name(), took.Round(time.Millisecond), quota.Patience).
				cured("use a Redis that is nearer or less busy")
		case version != "":
			does = ", Redis " + version + ", counts them"
		default:
			does = " counts them"
		}
	}
	if err := queries.Examine(ctx); err != nil {
		return away(err, "remembers persisted queries")
	}
	return newFinding(check, resultOK, "%s%s", store.Name(), does)
}

const lateHook = 15 * time.Minute

// eventFindings checks hooks and subscriptions, if there are any. delivers and serves say whether
// processes with these flags deliver to hooks, and serve subscriptions.
func eventFindings(ctx context.Context, session *Session, now status, delivers, serves bool, words func(error) string) (all []finding) {
	store := hooksOf(session)
	hooks, damaged, err := store.States(ctx)
	if err != nil {
		return []finding{newFinding("hooks", resultUnknown, "%s", words(err))}
	}
	for _, d := range damaged {
		all = append(all, newFinding("hook "+d.Hook, resultProblem, "%s", d.Item).cured("%s", d.Cure))
	}
	for _, h := range hooks {
		var refused error // here
		if delivers {
			refused = newSender().Ready(h.Hook)
		}
		dead := false
		for _, err := range store.DeadLetters(ctx, h.Hook.ID) {
			dead = err == nil || errors.As(err, new(webhooks.Damaged))
			break
		}
		all = append(all, hookFindings(h, refused, dead, now.now)...)
	}
	wanted, err := session.outbox().Wanted(ctx)
	if err != nil {
		return append(all, newFinding("events", resultUnknown, "%s", words(err)))
	}
	if _, follows := wanted[live.Use]; follows || serves || len(hooks)+len(damaged) > 0 {
		all = append(all, now.ofEvents())
	}
	return all
}

// byFunction reports whether a function of AWS Lambda counts.
func (s status) byFunction() bool {
	return !s.state.Scheduled.IsZero() && s.now.Sub(s.state.Scheduled) <= stream.ScheduleLate
}

// ofEvents returns the finding about events: whether a process writes them.
func (s status) ofEvents() finding {
	const check = "events"
	if !s.byFunction() && !slices.ContainsFunc(s.leases, func(lease stream.Lease) bool { return lease.Owner != "" }) {
		return newFinding(check, resultProblem, "hooks and subscribers get no events: no process reads the stream").
			cured("run talkback serve or talkback stream, or count with AWS Lambda")
	}
	return newFinding(check, resultOK, "are written for hooks and subscribers")
}

// hookFindings returns the findings about a hook. refused is why this process could not deliver it,
// dead whether it has dead letters.
func hookFindings(h webhooks.State, refused error, dead bool, now time.Time) (all []finding) {
	check, id, sum, lag := "hook "+h.Hook.ID, h.Hook.ID, h.Progress.Sum(), h.Lag(now).Round(time.Second)
	add := func(result checkResult, cure, found string, values ...any) {
		all = append(all, newFinding(check, result, found, values...).cured("%s", cure))
	}
	switch {
	case h.Hook.Paused:
		add(resultWarning, "talkback hooks resume "+id+"; events are kept for 14 days", "is paused, and %v behind", lag)
	case h.Progress.Who == "" && h.Oldest.IsZero(): // processes look for hooks when comments change
		add(resultWarning, "nothing if talkback serve or talkback stream runs with "+h.Hook.SecretEnv+" in its environment: it begins with the next change; else start one", "is delivered by no process, and no event waits")
	case h.Progress.Who == "":
		add(resultProblem, "start talkback serve or talkback stream with "+h.Hook.SecretEnv+" in its environment", "is delivered by no process, and %v behind", lag)
	case sum.Attempts > 0:
		add(resultWarning, "see to its receiver; talkback hooks test "+id+" tries it", "fails, and is %v behind: %s", lag, sum.LastError)
	case lag > lateHook:
		add(resultWarning, "have its receiver answer first, and work afterwards", "is %v behind", lag)
	}
	if dead {
		add(resultWarning, "talkback hooks dead "+id+" lists them, and talkback hooks redeliver "+id+" tries them once more", "refused events for so long that they were given up")
	}
	if refused != nil {
		found, cure, _ := strings.Cut(refused.Error(), ": ")
		add(resultWarning, "set it for the server, or the server leaves the hook to other processes: "+cure, "%s", found)
	}
	if len(all) == 0 {
		all = append(all, newFinding(check, resultOK, "has %s delivered", output.Count(sum.Delivered, "event", "events")))
	}
	return all
}
