// Audits the GraphQL server at a URL: node audit.cjs FOLDER URL. FOLDER has graphql-http. It prints
// a line of JSON for each check: its id, its requirement, and "ok" or the fault.
const { createRequire } = require('node:module');
const { join } = require('node:path');

const [folder, url] = process.argv.slice(2);
const { auditServer } = createRequire(join(folder, 'package.json'))('graphql-http');

auditServer({ url }).then((results) => {
  for (const { id, name, status, reason } of results) {
    console.log(JSON.stringify({ id, name, result: status === 'ok' ? status : `${status}: ${reason}` }));
  }
});
