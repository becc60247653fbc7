package browsertest

import (
	"context"
	"fmt"

	"github.com/chromedp/chromedp"
)

// Example chooses the example of a title in the Examples pane of the explorer, which is open, and
// presses the run button. It reads the answer, which is JSON, once it is on screen.
func Example(title string, answer *string) chromedp.Action {
	choice := fmt.Sprintf(`//button[strong[text()=%q]]`, title)
	actions := chromedp.Tasks{
		chromedp.WaitEnabled(choice), // until the editor that gets it is there
		Until(schemaKnown, nil),
		Click(choice),
		Click(".graphiql-execute-button"),
		Until(answerShown, answer),
	}
	return chromedp.ActionFunc(func(ctx context.Context) error {
		if err := actions.Do(ctx); err != nil {
			return fmt.Errorf("example %q: %w", title, err)
		}
		return nil
	})
}

// Answer waits until the explorer shows an answer, and reads it.
func Answer(answer *string) chromedp.Action { return Until(answerShown, answer) }

// SchemaKnown waits until the explorer has fetched the schema.
func SchemaKnown() chromedp.Action { return Until(schemaKnown, nil) }

const (
	// schemaKnown is true when the explorer has fetched the schema: its button to do so again
	// stands still.
	schemaKnown = `document.querySelector('[aria-label^="Re-fetch"]:not([disabled]) svg:not(.graphiql-spin)') !== null`

	// answerShown is the answer, when the pane of answers shows one and none is under way. It is
	// read from the editor's model, as the page itself holds no more lines of it than fit on
	// screen.
	answerShown = `(() => {
		const model = globalThis.__MONACO?.editor.getModels().find(({ uri }) => uri.path.endsWith('response.json'));
		const line = document.querySelector('.graphiql-response .view-line')?.textContent.trim();
		return line && !document.querySelector('.graphiql-spinner') && model.getValue();
	})()`
)

// Until waits for a JavaScript expression to be true, checking it at each frame, and puts its value
// in result unless that is nil. chromedp has its own poll, but that needs eval, which the
// Content-Security-Policy forbids.
func Until(expression string, result any) chromedp.Action {
	promise := `new Promise((done) => {
		const look = () => {
			let value;
			try { value = ` + expression + `; } catch { /* what it looks into is not there yet */ }
			value ? done(value) : requestAnimationFrame(look);
		};
		look();
	})`
	return chromedp.Evaluate(promise, result, awaited)
}
