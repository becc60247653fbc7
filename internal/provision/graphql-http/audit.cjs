// Audits the GraphQL server at an address: node audit.cjs FOLDER URL. FOLDER is where graphql-http is installed. Prints one
// line of JSON for each check: its id, what it asks for, and "ok" or what is wrong.
const { createRequire } = require('node:module');
const { join } = require('node:path');

const [folder, url] = process.argv.slice(2);
const { auditServer } = createRequire(join(folder, 'package.json'))('graphql-http');

auditServer({ url }).then((results) => {
  for (const { id, name, status, reason } of results) {
    console.log(JSON.stringify({ id, name, result: status === 'ok' ? status : `${status}: ${reason}` }));
  }
});
