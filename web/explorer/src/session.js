// What the explorer does by itself: run the first example, show what a link brought, and keep tabs, panes and schema as they fit.
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
  useGraphiQL(({ queryEditor, variableEditor, responseEditor }) => Boolean(queryEditor && variableEditor && responseEditor));

// A new visitor finds an answer. Tabs of their own, and what a link brought, run when they say so: also a first query,
// for its variables would be the link's.
function useFirstAnswer(firstQuery) {
  const { run } = useGraphiQLActions();
  const ready = useReady();
  const tabs = useGraphiQL(({ tabs }) => tabs);
  useEffect(() => {
    if (ready && tabs.length === 1 && tabs[0].query === firstQuery) run();
  }, [ready]);
}

// A link's query is in its tab from the beginning. It is stored as what is typed would be, so that the tab is found
// again; of several operations, the cursor is in the one that the link names, which is the one that Ctrl-Enter runs.
function useLink(link) {
  const { queryEditor, storage } = useGraphiQL(pick('queryEditor', 'storage'));
  const { setOperationName } = useGraphiQLActions();
  const isOther = useGraphiQL(({ tabs, activeTabIndex }) => {
    const { query, variables } = tabs[activeTabIndex] ?? {};
    return link?.operation && (query !== link.operation.query || (variables ?? '') !== link.operation.variables);
  });
  // The address of what is not shown any more goes: after a reload, its tab would stand before what was written.
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

// With another tab in front: it is in view, variables are unfolded if it has any, what was said is said no more, and
// what an earlier tab still waits for is given up, for its answer would be shown here.
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

// A schema that could not be read is read again after each run, which an answer that did not come asks for.
function useSchema() {
  const { introspect } = useGraphiQLActions();
  const { isFetching, fetchError } = useGraphiQL(pick('isFetching', 'fetchError'));
  useEffect(() => {
    if (!isFetching && fetchError) introspect();
  }, [isFetching]);
}

// The editor's colours follow the system's while the page is open, as all others do.
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

// keepInView scrolls a tab into view, now and when there is more or less room for tabs, until it is released.
function keepInView(tab) {
  const observer = new ResizeObserver(() => tab.scrollIntoView({ block: 'nearest', inline: 'nearest' }));
  observer.observe(tab.parentElement);
  return () => observer.disconnect();
}

// GraphiQL keeps to itself whether the pane below the query is folded; its own buttons tell and change it.
function foldVariables(fold) {
  const toggle = document.querySelector('.graphiql-toggle-editor-tools');
  const folded = toggle?.getAttribute('aria-label').startsWith('Show');
  if (fold && folded === false) toggle.click();
  if (!fold && folded) document.querySelector('.graphiql-editor-tools [data-name="variables"]').click();
}
