import { explorerPlugin } from '@graphiql/plugin-explorer';
import { HISTORY_PLUGIN } from '@graphiql/plugin-history';
import { GraphiQL } from 'graphiql';
// Imported statically: the page needs its editor at once, and so its styles become part of app.css.
import 'monaco-graphql/esm/monaco-editor.js';
import 'monaco-graphql/esm/lite.js';
import { createRoot } from 'react-dom/client';
import '@graphiql/react/style.css';
import '@graphiql/plugin-doc-explorer/style.css';
import '@graphiql/plugin-history/style.css';
import '@graphiql/plugin-explorer/style.css';
import 'graphiql/graphiql.css';
import '../../look/tokens.css';
import 'made:palette.css';
import './app.css';
import './narrow.css';
import { examples, examplesPlugin } from './examples.jsx';
import { fetcher } from './fetcher.js';
import { readLink } from './link.js';
import { Notice } from './notice.jsx';
import { PlanStrip } from './plan.jsx';
import { Session } from './session.js';
import { ShareButton } from './share.jsx';
import { forgetHeaders, storage } from './storage.js';
import { editorTheme } from './theme.js';
import { Switch } from './view.jsx';
import { setUpWorkers } from './workers.js';

const root = document.getElementById('explorer');
setUpWorkers(root.dataset);
forgetHeaders();

const link = readLink(location.search);

createRoot(root).render(
  <GraphiQL
    fetcher={fetcher}
    storage={storage}
    shouldPersistHeaders={false} // and no setting to do so
    plugins={[examplesPlugin, explorerPlugin(), HISTORY_PLUGIN]}
    visiblePlugin={examplesPlugin}
    defaultTabs={[link?.operation ?? examples[0]]}
    initialQuery={link?.operation?.query}
    initialVariables={link?.operation?.variables}
    defaultEditorToolsVisibility={false} // unfolded for tabs with variables
    editorTheme={editorTheme}
    schemaDescription
  >
    <GraphiQL.Logo>
      <a className="graphiql-logo-link" href="/">Talkback</a>
    </GraphiQL.Logo>
    <GraphiQL.Toolbar>
      {({ prettify, merge, copy }) => <>{prettify}{merge}{copy}<ShareButton /></>}
    </GraphiQL.Toolbar>
    <GraphiQL.Footer>
      <PlanStrip />
    </GraphiQL.Footer>
    <Session link={link} firstQuery={examples[0].query} />
    <Switch place={document.getElementById('switch')} root={root} firstPane={examplesPlugin} />
    <Notice />
  </GraphiQL>,
);
