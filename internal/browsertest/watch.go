package browsertest

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// watcher collects forbidden actions of a page. The browser reports them from its own goroutine.
type watcher struct {
	host string

	mu         sync.Mutex
	complaints []string
}

// watch watches the page of the context until the context ends. Requests may go to the host of the
// address.
func watch(ctx context.Context, address string) *watcher {
	w := &watcher{host: hostOf(address)}
	chromedp.ListenTarget(ctx, func(event any) {
		if complaint := w.judge(event); complaint != "" {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.complaints = append(w.complaints, complaint)
		}
	})
	return w
}

// all returns the complaints so far.
func (w *watcher) all() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.complaints)
}

// judge returns the fault that an event shows, empty if it shows none.
func (w *watcher) judge(event any) string {
	switch event := event.(type) {
	case *network.EventRequestWillBeSent:
		return w.judgeRequest(event.Request.URL)
	case *network.EventWebSocketCreated:
		return w.judgeRequest(event.URL)
	}
	return Complaint(event)
}

// Complaint returns the error or the warning that an event reports, empty if it reports none.
func Complaint(event any) string {
	switch event := event.(type) {
	case *runtime.EventExceptionThrown:
		return "uncaught: " + event.ExceptionDetails.Error()
	case *runtime.EventConsoleAPICalled:
		if event.Type == runtime.APITypeError || event.Type == runtime.APITypeWarning {
			return fmt.Sprintf("console %s: %s", event.Type, text(event.Args))
		}
	case *log.EventEntryAdded: // the browser's own words, violations of the Content-Security-Policy among them
		if event.Entry.Level == log.LevelError || event.Entry.Level == log.LevelWarning {
			return fmt.Sprintf("browser %s: %s %s", event.Entry.Level, event.Entry.Text, event.Entry.URL)
		}
	}
	return ""
}

// judgeRequest allows the host of the page, and addresses that contain their data, such as data
// URLs.
func (w *watcher) judgeRequest(address string) string {
	scheme, _, _ := strings.Cut(address, ":")
	if scheme == "data" || scheme == "blob" || hostOf(address) == w.host {
		return ""
	}
	return "request to another host: " + address
}

func hostOf(address string) string {
	parsed, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return parsed.Host
}

// text returns the console's text for some values.
func text(args []*runtime.RemoteObject) string {
	var words []string
	for _, arg := range args {
		word := arg.Description
		if word == "" {
			word = string(arg.Value)
		}
		words = append(words, word)
	}
	return strings.Join(words, " ")
}
