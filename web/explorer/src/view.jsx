// On a narrow screen there is room for one part at a time: the examples and other panes, the query, or the result. This
// is what switches between them; on a wide screen all are there, and the style sheet hides the switch.
import { pick, useGraphiQL, useGraphiQLActions } from '@graphiql/react';
import { useEffect, useLayoutEffect, useRef } from 'react';
import { createPortal } from 'react-dom';
import { newState } from './state.js';

const view = newState('query');

// show brings a part on screen: 'panes', 'query' or 'result'.
export const show = view.set;

// Switch draws the buttons into place, and marks root with the part that is to be seen. firstPane is opened if none is.
export function Switch({ place, root, firstPane }) {
  const shown = view.use();
  const buttons = useRef(null);
  const { setVisiblePlugin } = useGraphiQLActions();
  const { visiblePlugin, isFetching } = useGraphiQL(pick('visiblePlugin', 'isFetching'));

  useLayoutEffect(() => {
    root.dataset.view = shown;
    // What had the focus may be hidden now.
    if (!document.activeElement.checkVisibility()) buttons.current.querySelector('[aria-pressed="true"]').focus();
  }, [shown]);

  // Who sends a query wants its answer; who closes the pane is done with it.
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
        <button key={part} type="button" aria-pressed={part === shown} onClick={() => open(part)}>{title}</button>
      ))}
    </div>,
    place,
  );
}
