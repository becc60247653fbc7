// Tells Monaco where its workers are. They are modules of this origin, so no blob: and no inline script is needed and
// the Content-Security-Policy can stay strict. The page knows their hashed names.
export function setUpWorkers({ editorWorker, jsonWorker, graphqlWorker }) {
  const addresses = { json: jsonWorker, graphql: graphqlWorker };
  globalThis.MonacoEnvironment = {
    getWorker: (_, label) => new Worker(addresses[label] ?? editorWorker, { type: 'module', name: label }),
  };
}
