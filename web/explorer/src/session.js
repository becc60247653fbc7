// Automatic behaviour: runs the first example, shows a link's query, and keeps tabs, panes and
// schema up to date.
import { pick, useGraphiQL, useGraphiQLActions } from '@graphiql/react';
import { useEffect } from 'react';
import { hush, say } from './notice.jsx';

export function Session({ link, firstQuery }) {
  useLink(link);
  useFirstAnswer(link?.operation ? null : firstQuery);
  useOneTab();
  useSchema();
  useSystemColours();
  return null;
}

const useReady = () =>
  useGraphiQL(({ queryEditor, variableEditor, responseEditor }) =>
    Boolean(queryEditor && variableEditor && responseEditor),
  );

// Runs the first example for new visitors. Their own tabs and linked queries are never run
// automatically. That includes a link to the first query, whose variables may differ.
function useFirstAnswer(firstQuery) {
  const { run } = useGraphiQLActions();
  const ready = useReady();
  const tabs = useGraphiQL(({ tabs }) => tabs);
  useEffect(() => {
    if (ready && tabs.length === 1 && tabs[0].query === firstQuery) run();
  }, [ready]);
}

// Stores a link's query like a typed one, so that a reload finds its tab. If the link names one of
// several operations, moves the cursor there: Ctrl-Enter runs the operation at the cursor.
function useLink(link) {
  const { queryEditor, storage } = useGraphiQL(pick('queryEditor', 'storage'));
  const { setOperationName } = useGraphiQLActions();
  const isOther = useGraphiQL(({ tabs, activeTabIndex }) => {
    const { query, variables } = tabs[activeTabIndex] ?? {};
    return (
      link?.operation &&
      (query !== link.operation.query || (variables ?? '') !== link.operation.variables)
    );
  });
  // Removes the link from the address once another query is shown. Otherwise a reload would open
  // the link's tab in front of it.
  useEffect(() => {
    if (isOther && queryEditor) history.replaceState(null, '', location.pathname);
  }, [isOther, queryEditor]);
  useEffect(() => {
    if (!link || !queryEditor) return;
    say(link.notes);
    if (!link.operation) return;
    const { query, variables, named } = link.operation;
    storage.set('query', query);
    storage.set('variables', variables);
    if (!named) return;
    setOperationName(named.name.value);
    const position = { lineNumber: named.loc.startToken.line, column: named.loc.startToken.column };
    queryEditor.setPosition(position);
    queryEditor.revealPositionNearTop(position);
  }, [queryEditor]);
}

// When the tab changes: scrolls it into view, unfolds its variables, hides the message, and cancels
// the request of the earlier tab, whose answer would appear in this one.
function useOneTab() {
  const { stop } = useGraphiQLActions();
  const { variableEditor, isFetching } = useGraphiQL(pick('variableEditor', 'isFetching'));
  const tab = useGraphiQL(({ tabs, activeTabIndex }) => tabs[activeTabIndex]?.id);
  useEffect(() => {
    if (!variableEditor) return undefined;
    foldVariables(variableEditor.getValue().trim() === '');
    const release = keepInView(document.querySelector('.graphiql-tab-active'));
    return () => {
      release();
      stop();
      hush();
    };
  }, [tab, variableEditor]);
  useEffect(() => {
    if (isFetching) hush();
  }, [isFetching]);
}

// Retries a failed introspection after each run, since an answer suggests that the server is back.
function useSchema() {
  const { introspect } = useGraphiQLActions();
  const { isFetching, fetchError } = useGraphiQL(pick('isFetching', 'fetchError'));
  useEffect(() => {
    if (!isFetching && fetchError) introspect();
  }, [isFetching]);
}

// Follows the system's colour scheme while the page is open, as the rest of the page does.
function useSystemColours() {
  const { setTheme } = useGraphiQLActions();
  const theme = useGraphiQL(({ theme }) => theme);
  useEffect(() => {
    const dark = matchMedia('(prefers-color-scheme: dark)');
    const follow = () => setTheme(theme);
    dark.addEventListener('change', follow);
    return () => dark.removeEventListener('change', follow);
  }, [theme]);
}

// keepInView scrolls a tab into view, also when the tab bar is resized. It returns a function that
// stops this.
function keepInView(tab) {
  const observer = new ResizeObserver(() =>
    tab.scrollIntoView({ block: 'nearest', inline: 'nearest' }),
  );
  observer.observe(tab.parentElement);
  return () => observer.disconnect();
}

// GraphiQL does not expose whether the pane below the query is folded. Its buttons show and change
// it.
function foldVariables(fold) {
  const toggle = document.querySelector('.graphiql-toggle-editor-tools');
  const folded = toggle?.getAttribute('aria-label').startsWith('Show');
  if (fold && folded === false) toggle.click();
  if (!fold && folded) {
    document.querySelector('.graphiql-editor-tools [data-name="variables"]').click();
  }
}
