// Links that hold a query: /playground?query=…&variables=…&operationName=…, with variables as JSON.
// A linked query is shown but never run automatically: the author of a link must not make visitors
// change data or pay for reads. Links never include headers, because addresses end up in histories,
// logs and chats.
import { Kind, parse } from 'graphql';

// longest is the maximum length of a shared link in characters. Browsers accept more, but proxies
// and chats cut longer ones.
export const longest = 8000;

// addressOf returns the link to an operation.
export function addressOf(base, { query, variables, operationName }) {
  const address = new URL('/playground', base);
  address.searchParams.set('query', query);
  if (variables?.trim()) address.searchParams.set('variables', variables);
  if (operationName) address.searchParams.set('operationName', operationName);
  return address.href;
}

// readLink returns the operation in an address, and notes for the visitor. The operation is missing
// if the address has no query. It returns null for an address without any of these.
export function readLink(search) {
  const given = new URLSearchParams(search);
  const [query, variables, name] = ['query', 'variables', 'operationName'].map(
    (key) => given.get(key)?.trim() ?? '',
  );
  if (!query) {
    return variables || name
      ? { notes: ['The link has no query, so there is nothing to show.'] }
      : null;
  }
  const { operations, note } = operationsOf(query);
  const { text, problem } = tidy(variables);
  const notes = [note, problem];
  const named = operations.find((operation) => operation.name?.value === name);
  if (name && !named) {
    notes.push(`The link names an operation “${name}”, which its query does not have.`);
  }
  return { operation: { query, variables: text, named }, notes: notes.filter(Boolean) };
}

// operationsOf returns the operations of a query, and a note about them.
function operationsOf(query) {
  try {
    const operations = parse(query).definitions.filter(
      ({ kind }) => kind === Kind.OPERATION_DEFINITION,
    );
    const writes = operations.some(({ operation }) => operation === 'mutation');
    const note =
      `This ${writes ? 'mutation' : (operations[0]?.operation ?? 'query')} ` +
      `came with the link and was not run. ${
        writes
          ? 'It changes data when you press the run button.'
          : 'Press the run button to send it.'
      }`;
    return { operations, note };
  } catch (error) {
    return { operations: [], note: `The query of the link has an error: ${error.message}` };
  }
}

// tidy formats the JSON of variables, or returns it unchanged with a description of its error.
function tidy(variables) {
  if (!variables) return { text: '' };
  try {
    const value = JSON.parse(variables);
    if (value !== null && typeof value === 'object' && !Array.isArray(value)) {
      return { text: JSON.stringify(value, null, 2) };
    }
    return {
      text: variables,
      problem: 'The variables of the link are not a JSON object, such as {"first": 5}.',
    };
  } catch (error) {
    return { text: variables, problem: `The variables of the link are not JSON: ${error.message}` };
  }
}
