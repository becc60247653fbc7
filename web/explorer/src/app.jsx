import { explorerPlugin } from '@graphiql/plugin-explorer';
import { HISTORY_PLUGIN } from '@graphiql/plugin-history';
import { GraphiQL } from 'graphiql';
// Not left to be loaded later: the page is of no use without its editor, and this way its styles come with the page's.
import 'monaco-graphql/esm/monaco-editor.js';
import 'monaco-graphql/esm/lite.js';
import { createRoot } from 'react-dom/client';
import '@graphiql/react/style.css';
import '@graphiql/plugin-doc-explorer/style.css';
import '@graphiql/plugin-history/style.css';
import '@graphiql/plugin-explorer/style.css';
import 'graphiql/graphiql.css';
import './app.css';
import { examples, examplesPlugin } from './examples.jsx';
import { fetcher } from './fetcher.js';
import { forgetHeaders, storage } from './storage.js';
import { setUpWorkers } from './workers.js';

const root = document.getElementById('explorer');
setUpWorkers(root.dataset);
forgetHeaders();

createRoot(root).render(
  <GraphiQL
    fetcher={fetcher}
    storage={storage}
    shouldPersistHeaders={false} // and no setting to do so
    plugins={[examplesPlugin, explorerPlugin(), HISTORY_PLUGIN]}
    visiblePlugin={examplesPlugin}
    defaultTabs={examples}
    defaultEditorToolsVisibility="variables" // some examples are about them
    schemaDescription
  >
    <GraphiQL.Logo>
      <a className="graphiql-logo-link" href="/">Talkback</a>
    </GraphiQL.Logo>
  </GraphiQL>,
);
