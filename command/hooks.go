package command

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/call"
	"github.com/talkback/talkback/dynamo/outbox"
	"github.com/talkback/talkback/internal/output"
	"github.com/talkback/talkback/internal/webhooks"
)

// Hooks manages the addresses that events are delivered to.
type Hooks struct {
	Do   string `arg:"" name:"what" enum:"add,list,pause,resume,replay,dead,redeliver,remove,test" help:"What to do: add, list, pause, resume, replay, dead, redeliver, remove or test."`
	Hook string `arg:"" optional:"" help:"The address that add adds, such as https://shop.example/hooks; else the id of a hook, as list prints it."`

	Events       []string       `help:"For add: the kinds of events, such as comment.added,comment.approved. Without it, all." placeholder:"KIND"`
	SecretEnv    string         `help:"For add: name of the environment variable that holds the secret, whsec_ and 24 to 64 random bytes in base64, in each process that delivers. The secret itself is stored nowhere." placeholder:"NAME"`
	Purge        string         `help:"For add: the address is the purge API of this CDN, fastly or cloudflare. It gets the tags of products that change, with the token in the variable of --secret-env." placeholder:"CDN"`
	AllowPrivate bool           `help:"For add: take an address inside your own network, and http://."`
	GiveUp       *time.Duration `help:"For add: for how long a delivery is tried again, 1m to 168h (default: 72h)." placeholder:"72h"`
	Since        string         `help:"For replay: from when on events are delivered again, such as 2026-11-26T12:00:00Z. They are kept for 14 days." placeholder:"TIME"`
}

const defaultGiveUp = 72 * time.Hour

func hooksOf(session *Session) *webhooks.Store {
	return webhooks.NewStore(call.For(session.Client, call.ForOutbox), session.Table, session.outbox())
}

func newSender() *webhooks.Sender { return webhooks.NewSender(os.LookupEnv) }

// Run performs the action, and prints the result.
func (c *Hooks) Run(ctx context.Context, flags *EngineFlags, term Terminal, line *kong.Context) error {
	since, err := c.check(line.Model)
	if err != nil {
		return asUsage(err)
	}
	return flags.with(ctx, Opening{Owner: "talkback hooks"}, term, func(session *Session) error {
		text, err := c.run(ctx, session, since, output.ScreenOf(term.Out))
		_, unwritten := io.WriteString(term.Out, text)
		return errors.Join(err, unwritten)
	})
}

// check returns the time of --since, or an error in the command line.
func (c *Hooks) check(app *kong.Application) (since time.Time, err error) {
	given := len(c.Events) > 0 || c.SecretEnv != "" || c.Purge != "" || c.AllowPrivate || c.GiveUp != nil
	switch {
	case c.Do == "list" && c.Hook != "":
		return since, errors.New("talkback hooks list prints all hooks: give no id")
	case c.Do == "add" && c.Hook == "":
		return since, errors.New("talkback hooks add needs an address: give one such as https://shop.example/hooks")
	case c.Do != "list" && c.Hook == "":
		return since, fmt.Errorf("talkback hooks %s needs the id of a hook: talkback hooks list prints all", c.Do)
	case c.Do != "add" && given:
		return since, errors.New("--events, --secret-env, --purge, --allow-private and --give-up are for talkback hooks add: remove the hook and add it to change them")
	case (c.Do == "replay") != (c.Since != ""):
		return since, errors.New("give --since with talkback hooks replay, and with nothing else")
	case c.Do == "add":
		if near := resembled(app, c.SecretEnv); near != "" { // each server would warn of it
			return since, fmt.Errorf("--secret-env %.255s would be taken for a misspelt %s: choose a name that resembles no variable of Talkback, such as SHOP_HOOK_SECRET", c.SecretEnv, near)
		}
		return since, c.hook().Check()
	case c.Since == "":
		return since, nil
	}
	since, err = comment.ParseTime(c.Since)
	if err != nil || time.Since(since) < 0 || time.Since(since) > outbox.Keep {
		yesterday := time.Now().UTC().AddDate(0, 0, -1)
		return since, fmt.Errorf("--since must be a time of the last 14 days, such as %s", yesterday.Format(time.RFC3339))
	}
	return since, nil
}

func (c *Hooks) hook() webhooks.Hook {
	h := webhooks.Hook{URL: c.Hook, SecretEnv: c.SecretEnv, Purge: c.Purge, AllowPrivate: c.AllowPrivate, GiveUp: defaultGiveUp}
	if c.GiveUp != nil {
		h.GiveUp = *c.GiveUp
	}
	for _, kind := range c.Events {
		h.Kinds = append(h.Kinds, outbox.Kind(kind))
	}
	return h
}

// run returns the text to print, which may accompany an error about damaged items.
func (c *Hooks) run(ctx context.Context, session *Session, since time.Time, screen output.Screen) (text string, err error) {
	store := hooksOf(session)
	h := webhooks.Hook{ID: c.Hook}
	switch c.Do {
	case "list":
		return listHooks(ctx, store)
	case "add":
		h, err = store.Add(ctx, c.hook())
		text = fmt.Sprintf("Hook %s gets events from now on; all processes know it within %v.", h.ID, outbox.Notice)
	case "pause":
		_, err = store.Change(ctx, h.ID, webhooks.Pause)
		text = "Hook " + h.ID + " gets no events until talkback hooks resume. Events are kept for 14 days."
	case "resume":
		_, err = store.Change(ctx, h.ID, webhooks.Resume)
		text = "Hook " + h.ID + " goes on where it was."
	case "replay":
		_, err = store.Change(ctx, h.ID, webhooks.Replay(since))
		text = "Hook " + h.ID + " gets all events since then again, with the same ids."
	case "dead":
		return listDead(ctx, store, h.ID, screen)
	case "redeliver":
		return redeliver(ctx, store, h.ID)
	case "remove":
		err = store.Remove(ctx, h.ID)
		text = "Hook " + h.ID + " is removed."
	default:
		if h, err = store.Find(ctx, h.ID); err == nil {
			err = newSender().Test(ctx, h, "test_"+strings.ToLower(rand.Text()))
		}
		text = "Hook " + h.ID + " took a test event."
	}
	if err != nil {
		return "", err
	}
	return text + "\n", nil
}

// listHooks lists all hooks, with their progress. Its error names the damaged ones.
func listHooks(ctx context.Context, store *webhooks.Store) (string, error) {
	all, damaged, err := store.States(ctx)
	if err != nil {
		return "", err
	}
	if len(all)+len(damaged) == 0 {
		return "There are no hooks: talkback hooks add makes one.\n", nil
	}
	var out strings.Builder
	for _, s := range all {
		out.WriteString(hookText(s))
	}
	wrong := make([]error, len(damaged))
	for i, d := range damaged {
		wrong[i] = d
	}
	return output.PrintableLines(out.String()), errors.Join(wrong...)
}

func hookText(s webhooks.State) string {
	h, p, sum := s.Hook, s.Progress, s.Progress.Sum()
	kinds, state, waits := "all events", "delivered by "+p.Who, "none waits"
	if !s.Oldest.IsZero() {
		waits = "waits for one of " + s.Oldest.Format(time.RFC3339)
	}
	if len(h.Kinds) > 0 {
		kinds = strings.Trim(fmt.Sprint(h.Kinds), "[]")
	}
	if h.Purge != "" {
		kinds += ", as purges of " + h.Purge
	}
	switch {
	case h.Paused:
		state = "paused"
	case p.Who == "" && s.Oldest.IsZero():
		state = "delivered by no process; a talkback serve or talkback stream with " + h.SecretEnv + " set begins with the next change"
	case p.Who == "":
		state = "delivered by no process: start talkback serve or talkback stream, with " + h.SecretEnv + " set"
	}
	text := fmt.Sprintf("%s  %s\n  events    %s; secret in %s; tried for %v\n  state     %s\n  progress  %d delivered, %d given up, %s\n",
		h.ID, h.Address(), kinds, h.SecretEnv, h.GiveUp, state, sum.Delivered, sum.DeadLettered, waits)
	if sum.LastError != "" {
		text += "  failure   " + sum.LastError + "\n"
	}
	if sum.Attempts > 0 {
		text += fmt.Sprintf("  retries   %s for %s, of %s; the next at %s\n", output.Count(sum.Attempts, "attempt", "attempts"), sum.Failing, sum.Since.Format(time.RFC3339), sum.Next.UTC().Format(time.RFC3339))
	}
	return text
}

// maxDead is how many dead letters are listed at most.
const maxDead = 1000

// listDead lists the dead letters of a hook, oldest first. Its error names damaged items.
func listDead(ctx context.Context, store *webhooks.Store, id string, screen output.Screen) (string, error) {
	if _, err := store.Find(ctx, id); err != nil {
		return "", err
	}
	var all []webhooks.DeadLetter
	var wrong []error
	for letter, err := range store.DeadLetters(ctx, id) {
		switch {
		case errors.As(err, new(webhooks.Damaged)) && len(wrong) < maxDead:
			wrong = append(wrong, err)
			continue
		case err != nil:
			return "", errors.Join(append(wrong, err)...)
		}
		if all = append(all, letter); len(all) == maxDead {
			break
		}
	}
	if len(all) == 0 && len(wrong) > 0 {
		return "", errors.Join(wrong...)
	}
	if len(all) == 0 {
		return "Hook " + id + " has no dead letters.\n", nil
	}
	slices.SortFunc(all, func(a, b webhooks.DeadLetter) int { return a.At.Compare(b.At) })
	table := output.NewTable("EVENT", "OF", "KIND", "PRODUCT", "COMMENT", "FAILURE")
	for _, d := range all {
		table.Row(d.ID, d.At.Format(time.RFC3339), string(d.Kind), output.Printable(d.Product), string(d.Comment), output.Printable(d.Reason))
	}
	text := table.On(screen) + "talkback hooks redeliver " + id + " tries them once more.\n"
	if len(all) == maxDead {
		text = fmt.Sprintf("%sThere may be more than these %d.\n", text, maxDead)
	}
	return text, errors.Join(wrong...)
}

// redeliver sends the dead letters of a hook from this process.
func redeliver(ctx context.Context, store *webhooks.Store, id string) (string, error) {
	h, err := store.Find(ctx, id)
	if err != nil {
		return "", err
	}
	n, err := store.Redeliver(ctx, h, newSender().Send)
	if _, ok := errors.AsType[webhooks.Damaged](err); err != nil && !ok {
		return "", fmt.Errorf("%s delivered; the next was not, and stays with those after it: %w", output.Count(n, "event was", "events were"), err)
	}
	return fmt.Sprintf("Hook %s took %s that had been given up.\n", id, output.Count(n, "event", "events")), err
}
