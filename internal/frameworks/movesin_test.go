package frameworks

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/golang-jwt/jwt/v5"

	"github.com/talkback/talkback/internal/browsertest"
	"github.com/talkback/talkback/internal/commenttest/must"
)

// exported are the reviews of a shop as Judge.me exports them: two that are shown, with a reply and
// a picture, one that nobody has decided on yet, and spam.
const exported = `title,body,rating,review_date,source,curated,reviewer_name,reviewer_email,product_id,product_handle,reply,reply_date,picture_urls,ip_address,location,metaobject_handle
Belle,"Très belle lampe,<br>et solide.",5,2026-03-02 10:12:00 UTC,email,ok,Anne,anne@mail.example,7,lampe,Merci beaucoup,2026-03-03 08:00:00 UTC,SHOP/pictures/a.jpg,192.0.2.1,Lyon,h1
,Correcte,3,2026-03-04 10:12:00 UTC,web,ok,Luc,luc@mail.example,7,lampe,,,,192.0.2.2,Metz,h2
,Pas encore lue,4,2026-03-05 10:12:00 UTC,web,not-yet,Eve,eve@mail.example,7,lampe,,,,192.0.2.3,Metz,h3
,Achetez ailleurs,5,2026-03-06 10:12:00 UTC,web,spam,Bot,bot@mail.example,7,lampe,,,,192.0.2.4,Metz,h4
`

// What others read and what their writer reads, in the language of the page.
const (
	thanks = "Merci\u00a0! Votre avis sera affiché dès que la boutique l’aura lu."
	waits  = "Votre avis attend la validation de la boutique."
)

// movesIn is the whole way of a shop: its reviews come from Judge.me, its page is in React and in
// French, a signed-in customer writes and sees that it waits, a moderator approves it on the desk,
// and a stranger reads it. Each step is done twice, as each has to bear that.
func movesIn(t *testing.T, browser context.Context, folder, program string) {
	shop := openMovingShop(t, folder, program)
	const pending = 1 // came with the file
	for round := 1; round <= 2; round++ {
		said, want := shop.imports(t), []string{"", "4 rows = 4 written", "4 rows = 0 written + 4 already there"}[round]
		if !strings.Contains(said, want) {
			t.Errorf("import %d says %q, want %s", round, said, want)
		}
		text := fmt.Sprintf("Une lampe que je conseille, avis %d", round)
		shop.customer.Store(int32(round))
		customer, stranger, moderator := browsertest.NewVisitor(t, browser), browsertest.NewVisitor(t, browser), browsertest.NewVisitor(t, browser)
		page := shop.address + "/french.html"
		imported := []chromedp.Action{
			browsertest.Until(fmt.Sprintf("%s.length === %d", texts, 2+round-1), nil),
			browsertest.Until(texts+".includes('Très belle lampe,\\net solide.')", nil),
			browsertest.Until(find(".list .reply .text")+"?.textContent === 'Merci beaucoup'", nil),
			browsertest.Until(find(".list .media img")+"?.naturalWidth > 0", nil),
		}
		signsIn := chromedp.Tasks{
			browsertest.Until(find("slot[name=sign-in]")+" !== null", nil),
			browsertest.Click("button"),
			browsertest.Until(find(".write > .button")+"?.textContent === 'Écrire un avis'", nil),
		}
		browsertest.Visit(t, customer, page, append(imported, signsIn,
			browsertest.ClickElement(find(".write > .button")),
			browsertest.ClickElement(find(".write [name=rating][value='4']")),
			chromedp.Evaluate(find(".write textarea")+".focus()", nil),
			chromedp.KeyEvent(text),
			browsertest.ClickElement(find(".write .primary")),
			browsertest.Until(find(".said")+"?.textContent === '"+thanks+"'", nil),
			ownWaits(text),
			chromedp.Reload(),
			signsIn,
			ownWaits(text), // as the service knows
		)...)
		browsertest.Visit(t, stranger, page, append(imported, browsertest.Until(find(".highlight.own\\.waits")+" === null", nil))...)
		approve := fmt.Sprintf("[...document.querySelectorAll('[data-state=open]')].find(({ textContent }) => textContent.includes(%q))?.querySelector('.approve')", text)
		browsertest.Visit(t, moderator, shop.address+"/moderation",
			browsertest.Until("document.activeElement?.id === 'token'", nil),
			chromedp.KeyEvent(shop.moderator+kb.Enter),
			browsertest.Until(fmt.Sprintf("document.querySelectorAll('[data-state=open]').length === %d", pending+1), nil),
			browsertest.ClickElement(approve),
			browsertest.Click("#refresh"), // which sends it
			browsertest.Until(fmt.Sprintf("document.querySelectorAll('article').length === %d", pending), nil),
		)
		browsertest.Visit(t, stranger, page, refreshedUntil(fmt.Sprintf("%s.includes(%q)", texts, text)))
	}
	browsertest.Visit(t, browsertest.NewVisitor(t, browser), shop.address+"/french.html",
		refreshedUntil(find(".average .of")+"?.textContent === '4 avis'"),
		browsertest.Until("!"+inside+"textContent.includes('Achetez ailleurs') && !"+inside+"textContent.includes('Pas encore lue')", nil),
	)
}

// ownWaits waits until the customer sees their comment as one that waits for the shop.
func ownWaits(text string) chromedp.Action {
	return chromedp.Tasks{
		browsertest.Until(find(".highlight.own\\.waits h3")+"?.textContent === '"+waits+"'", nil),
		browsertest.Until(find(".highlight.own\\.waits .text")+"?.textContent === '"+text+"'", nil),
	}
}

// refreshedUntil has the element read the comments until an expression is true: lists follow a
// decision within moments.
func refreshedUntil(expression string) chromedp.Action {
	const looking = `(async () => {
		for (;; await new Promise((done) => setTimeout(done, 50))) {
			await document.querySelector('talkback-comments')?.refresh?.();
			if (%s) return;
		}
	})()`
	return chromedp.Evaluate(fmt.Sprintf(looking, expression), nil, func(p *runtime.EvaluateParams) *runtime.EvaluateParams { return p.WithAwaitPromise(true) })
}

// texts are those of the list.
const texts = "[..." + inside + "querySelectorAll('.list article > .text') ?? []].map(({ textContent }) => textContent)"

// movingShop is a shop whose pages, pictures and sign-in are at an address, with the service behind
// it.
type movingShop struct {
	address, moderator string
	customer           atomic.Int32 // who signs in
	importing          []string     // the command
}

func openMovingShop(t *testing.T, folder, program string) *movingShop {
	t.Helper()
	secret := strings.Repeat("a secret of the shop ", 3)
	shop := &movingShop{moderator: strings.Repeat("m", 40)}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /pictures/", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "image/svg+xml")
		_, _ = io.WriteString(w, `<svg xmlns="http://www.w3.org/2000/svg" width="40" height="20"><rect width="40" height="20" fill="teal"/></svg>`)
	})
	mux.HandleFunc("POST /session", func(w http.ResponseWriter, _ *http.Request) { signIn(w, secret, int(shop.customer.Load()), "Zoé") })
	built := http.FileServer(http.Dir(filepath.Join(folder, "dist")))
	mux.Handle("GET /french.html", built)
	mux.Handle("GET /assets/", built)
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	shop.address = server.URL

	file := filepath.Join(t.TempDir(), "reviews.csv")
	must.Do(t, os.WriteFile(file, []byte(strings.ReplaceAll(exported, "SHOP", shop.address)), 0o600))
	table := append(newTable(t), "--media-base", shop.address+"/pictures/")
	shop.importing = append([]string{"TALKBACK_AUTHOR_SECRET=" + secret, program, "import", file, "--from", "judgeme", "--map", "product=product_handle", "--language", "fr", "--hash-authors", "--yes"}, table...)
	mux.Handle("/", serve(t, program, secret, []string{"TALKBACK_MODERATOR_TOKEN=" + shop.moderator}, append(table, "--moderation", "hold")))
	return shop
}

// imports imports the file and returns what the program says.
func (s *movingShop) imports(t *testing.T) string {
	t.Helper()
	return run(t, ".", "env", s.importing...)
}

// signIn answers with what a shop knows of a customer, and a token of its own.
func signIn(w http.ResponseWriter, secret string, customer int, name string) {
	claims := jwt.MapClaims{"sub": fmt.Sprint("customer-", customer), "exp": time.Now().Add(time.Hour).Unix()}
	token, err := jwt.NewWithClaims(jwt.SigningMethodHS256, claims).SignedString([]byte(secret))
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	_ = json.NewEncoder(w).Encode(map[string]string{"name": name, "token": token})
}
