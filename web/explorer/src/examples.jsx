// The Examples pane: one query for each feature of the API. Initial tabs alone would not do: the
// editor restores a visitor's own tabs and would not show the examples again.
import { pick, useGraphiQL, useGraphiQLActions } from '@graphiql/react';
import examples from 'made:examples';
import { show } from './view.jsx';
import { withWritten } from './written.js';

export { examples };

export const examplesPlugin = { title: 'Examples', icon: Icon, content: Examples };

function Icon(props) {
  return (
    <svg
      viewBox="0 0 24 24"
      fill="none"
      stroke="currentColor"
      strokeWidth="1.5"
      strokeLinecap="round"
      {...props}
    >
      <path d="M9 6h11M9 12h11M9 18h11" />
      <path d="m3.5 5 2 1-2 1zM3.5 11l2 1-2 1zM3.5 17l2 1-2 1z" strokeLinejoin="round" />
    </svg>
  );
}

const writes = ({ query }) => /^mutation /m.test(query);

function Examples() {
  return (
    <section className="examples" aria-label="Examples">
      <h2>Examples</h2>
      <p>Each opens in a tab of its own. Then press the run button.</p>
      <h3>Read</h3>
      <List of={examples.filter((example) => !writes(example))} />
      <h3>Write</h3>
      <List of={examples.filter(writes)} />
    </section>
  );
}

function List({ of }) {
  const { open, ready } = useOpen();
  const query = useGraphiQL(({ tabs, activeTabIndex }) => tabs[activeTabIndex]?.query ?? '');
  // An edited example is still recognized by its first line.
  const isShown = (example) =>
    query.startsWith(example.query.slice(0, example.query.indexOf('\n') + 1));
  return (
    <ol>
      {of.map((example) => (
        <li key={example.title}>
          <button
            type="button"
            disabled={!ready}
            aria-current={isShown(example) || undefined}
            onClick={() => open(example)}
          >
            <strong>{example.title}</strong>
            <span>{example.description}</span>
          </button>
        </li>
      ))}
    </ol>
  );
}

// Returns a function that opens an example: in the tab that has it unchanged, or else in a new one.
function useOpen() {
  const { addTab, changeTab, stop, updateActiveTabValues, setOperationName } = useGraphiQLActions();
  const { queryEditor, variableEditor, tabs } = useGraphiQL(
    pick('queryEditor', 'variableEditor', 'tabs'),
  );
  function open(example) {
    const { query } = example;
    const variables = writes(example) ? withWritten(example.variables) : example.variables;
    const index = tabs.findIndex(
      (tab) => tab.query === query && (tab.variables ?? '') === variables,
    );
    stop();
    if (index < 0) addTab();
    else changeTab(index);
    queryEditor.setValue(query);
    variableEditor.setValue(variables);
    updateActiveTabValues({ query, variables });
    // The editor would set the name too, but later. Until then, the run button would send the old
    // one.
    setOperationName(/^(?:query|mutation) (\w+)/m.exec(query)[1]);
    show('query');
  }
  return { open, ready: Boolean(queryEditor && variableEditor) };
}
