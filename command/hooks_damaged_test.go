package command_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/internal/dynamotest"
)

// Each item of a hook that was damaged by hand is named with its cure and without its values. The other hooks are
// listed and delivered, and the cure works.
func TestDamagedHooks(t *testing.T) {
	t.Setenv("SHOP_HOOK", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
	a := &api{tb: t, session: newSession(t, dynamotest.Dynoxide(t))}
	receiver := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer receiver.Close()
	_, added, _ := a.talkback("hooks", "add", receiver.URL, "--allow-private", "--secret-env", "SHOP_HOOK")
	id := strings.Fields(added)[1]
	put := func(key, attributes layout.Item) {
		t.Helper()
		for name, value := range attributes {
			key[name] = value
		}
		if _, err := a.session.Client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String(a.session.Table), Item: key}); err != nil {
			t.Fatal(err)
		}
	}
	const address = "ada@shop.example"
	damaged := map[string]layout.Item{
		"lacking": {"x": layout.Text(address)},
		"number":  {layout.AttrHook: layout.Number(-1)},
		"torn":    {layout.AttrHook: layout.Text(`{"ID":"torn","URL":"` + address)},
		"null":    {layout.AttrHook: layout.Text("null")},
		"empty":   {layout.AttrHook: layout.Text("{}")},
		"large":   {layout.AttrHook: layout.Text(strings.Repeat(address, 300<<10/len(address)))},
		"other":   {layout.AttrHook: layout.Text(`{"ID":"` + id + `","URL":"https://shop.example","SecretEnv":"S","GiveUp":3600000000000}`)},
		"below":   {layout.AttrHook: layout.Text(`{"ID":"below","URL":"https://shop.example","SecretEnv":"S","GiveUp":-1}`)},
		"typed":   {layout.AttrHook: layout.Text(`{"ID":"typed","URL":["` + address + `"]}`)},
	}
	for name, attributes := range damaged {
		put(layout.HookKey(name), attributes)
	}
	a.names(1, damaged, "HOOKS/", "talkback hooks remove ", "hooks", "list")
	a.names(1, damaged, "HOOKS/", "talkback hooks remove ", "doctor", "--listen", "127.0.0.1:0")
	if _, out, _ := a.talkback("hooks", "list"); !strings.Contains(out, receiver.URL) {
		t.Errorf("the hook that is not damaged is not listed:\n%s", out)
	}
	if status, _, said := a.talkback("hooks", "test", id); status != 0 {
		t.Error(said)
	}
	if status, _, said := a.talkback("hooks", "pause", "torn"); status != 1 || !strings.Contains(said, "talkback hooks remove torn") {
		t.Errorf("status %d, %s", status, said)
	}
	for name := range damaged {
		if status, _, said := a.talkback("hooks", "remove", name); status != 0 {
			t.Errorf("remove %s: status %d, %s", name, status, said)
		}
	}
	if status, out, said := a.talkback("hooks", "list"); status != 0 {
		t.Errorf("status %d\n%s%s", status, out, said)
	}

	letters := map[string]layout.Item{
		"evt_torn":  {layout.AttrHook: layout.Text(`{"ID":"evt_torn","Product":"` + address)},
		"evt_other": {layout.AttrHook: layout.Text(`{"ID":"evt_1"}`)},
		"evt_none":  {layout.AttrTTL: layout.Number(time.Now().Add(time.Hour).Unix())},
	}
	for event, attributes := range letters {
		put(layout.DeadEventKey(id, event), attributes)
	}
	put(layout.DeadEventKey(id, "evt_well"), layout.Item{layout.AttrHook: layout.Text(`{"ID":"evt_well","Kind":"comment.added","Reason":"it answers 410 Gone"}`)})
	a.names(1, letters, layout.DeadEventPrefix, "talkback hooks replay "+id, "hooks", "dead", id)
	if _, out, _ := a.talkback("hooks", "dead", id); !strings.Contains(out, "evt_well") {
		t.Errorf("the event that is not damaged is not listed:\n%s", out)
	}
	a.names(1, letters, layout.DeadEventPrefix, "talkback hooks replay "+id, "hooks", "redeliver", id)
	if _, out, _ := a.talkback("hooks", "dead", id); strings.Contains(out, "evt_well") {
		t.Errorf("the event that is not damaged was not delivered:\n%s", out)
	}
}

// names runs a command, which must name each damaged item and the cure, and no address of the items.
func (a *api) names(want int, damaged map[string]layout.Item, before, cure string, arguments ...string) {
	a.tb.Helper()
	status, out, said := a.talkback(arguments...)
	all := strings.Join(strings.Fields(out+said), " ")
	for name := range damaged {
		if !strings.Contains(all, before+name) {
			a.tb.Errorf("%v does not name %s", arguments, name)
		}
	}
	if status != want || !strings.Contains(all, cure) || strings.Contains(all, "ada@") || strings.Contains(all, "panic") {
		a.tb.Errorf("%v: status %d\n%s%s", arguments, status, out, said)
	}
}
