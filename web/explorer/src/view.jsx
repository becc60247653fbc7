// A narrow screen shows one part at a time: the panes such as Examples, the query, or the result.
// This is the switch between them. On a wide screen all are visible, and the style sheet hides the
// switch.
import { pick, useGraphiQL, useGraphiQLActions } from '@graphiql/react';
import { useEffect, useLayoutEffect, useRef } from 'react';
import { createPortal } from 'react-dom';
import { newState } from './state.js';

const view = newState('query');

// show selects a part: 'panes', 'query' or 'result'.
export const show = view.set;

// Switch renders the buttons into `place` and sets data-view on `root`. If no pane is open, "panes"
// opens `firstPane`.
export function Switch({ place, root, firstPane }) {
  const shown = view.use();
  const buttons = useRef(null);
  const { setVisiblePlugin } = useGraphiQLActions();
  const { visiblePlugin, isFetching } = useGraphiQL(pick('visiblePlugin', 'isFetching'));

  useLayoutEffect(() => {
    root.dataset.view = shown;
    // The focused element may be hidden now.
    if (!document.activeElement.checkVisibility()) {
      buttons.current.querySelector('[aria-pressed="true"]').focus();
    }
  }, [shown]);

  // Sending a query switches to the result; closing the pane switches to the query.
  useEffect(() => {
    if (isFetching) show('result');
  }, [isFetching]);
  useEffect(() => {
    if (shown === 'panes' && !visiblePlugin) show('query');
  }, [visiblePlugin]);

  function open(part) {
    if (part === 'panes' && !visiblePlugin) setVisiblePlugin(firstPane);
    show(part);
  }
  const parts = {
    panes: visiblePlugin && visiblePlugin !== firstPane ? 'Panes' : firstPane.title,
    query: 'Query',
    result: 'Result',
  };
  return createPortal(
    <div className="switch" role="group" aria-label="Part of the explorer" ref={buttons}>
      {Object.entries(parts).map(([part, title]) => (
        <button key={part} type="button" aria-pressed={part === shown} onClick={() => open(part)}>
          {title}
        </button>
      ))}
    </div>,
    place,
  );
}
