// Gives Monaco the addresses of its workers. They are modules of this origin, so the
// Content-Security-Policy needs neither blob: nor inline scripts. The page has their hashed names.
export function setUpWorkers({ editorWorker, jsonWorker, graphqlWorker }) {
  const addresses = { json: jsonWorker, graphql: graphqlWorker };
  globalThis.MonacoEnvironment = {
    getWorker: (_, label) =>
      new Worker(addresses[label] ?? editorWorker, { type: 'module', name: label }),
  };
}
