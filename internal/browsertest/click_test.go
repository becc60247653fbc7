package browsertest

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// clickPage has a button under the target, and records which elements got presses and clicks.
const clickPage = `<style>#other, #target { position: fixed; left: 0; top: 0; width: 100px; height: 50px }</style>
<button id="other"></button>
<script>
	const got = [];
	for (const type of ['mousedown', 'click']) addEventListener(type, ({ target }) => got.push(type + ' ' + target.id));
	const away = () => { target.style.top = '200px'; };
</script>`

// Whenever the target moves, the element that is then under the mouse gets no click, and the target
// gets one. Afterwards the page gets all clicks again.
func TestClick(t *testing.T) {
	ctx := Open(t)
	for _, test := range []struct{ name, page, want string }{
		{"stays", `<button id="target"></button>`, "mousedown target, click target"},
		{"moves once it is found", `<button id="target"></button><script>
			target.getClientRects = () => {
				queueMicrotask(away);
				return Element.prototype.getClientRects.call(target);
			};
		</script>`, "mousedown target, click target"},
		{"moves under the press", `<button id="target" onpointerdown="away()"></button>`, "mousedown target, mousedown target, click target"},
		{"is covered", `<button id="target"></button><button id="cover" style="position: fixed; inset: 0"></button><script>
			requestAnimationFrame(() => requestAnimationFrame(() => cover.remove()));
		</script>`, "mousedown target, click target"},
		{"comes later", `<script>requestAnimationFrame(() => document.body.insertAdjacentHTML('beforeend', '<button id="target"></button>'))</script>`,
			"mousedown target, click target"},
		{"is a label", `<label id="target" for="field">words</label><input id="field" type="checkbox">`, "mousedown target, click target, click field"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if complaints := visitPage(t, ctx, "", clickPage+test.page); len(complaints) > 0 {
				t.Fatal(complaints)
			}
			var got string
			if err := chromedp.Run(ctx, Click("#target"), chromedp.Evaluate("target.remove()", nil), chromedp.MouseClickXY(5, 5),
				chromedp.Evaluate("got.join(', ')", &got)); err != nil {
				t.Fatal(err)
			}
			got, again := strings.CutSuffix(got, ", mousedown other, click other")
			if got != test.want || !again {
				t.Errorf("the page got %q, want %q; clicks afterwards get through: %v", got, test.want, again)
			}
		})
	}
}
