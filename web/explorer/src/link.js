// An address of the explorer that holds a query: /playground?query=…&variables=…&operationName=…, with variables as JSON.
// What comes by a link is shown and never run by itself: whoever made the link may not have a say in what a visitor's
// requests change or cost. Headers are never part of an address, since it ends up in histories, logs and chats.
import { Kind, parse } from 'graphql';

// longest is how many characters an address may have that is offered for sharing. Browsers take more, but proxies and
// chats cut longer ones.
export const longest = 8000;

// addressOf returns the address that holds an operation.
export function addressOf(base, { query, variables, operationName }) {
  const address = new URL('/playground', base);
  address.searchParams.set('query', query);
  if (variables?.trim()) address.searchParams.set('variables', variables);
  if (operationName) address.searchParams.set('operationName', operationName);
  return address.href;
}

// readLink returns what an address holds: the operation, or none of its query is missing, and what to tell the visitor
// about it. It returns null if the address holds nothing.
export function readLink(search) {
  const given = new URLSearchParams(search);
  const [query, variables, name] = ['query', 'variables', 'operationName'].map((key) => given.get(key)?.trim() ?? '');
  if (!query) return variables || name ? { notes: ['The link has no query, so there is nothing to show.'] } : null;
  const { operations, note } = operationsOf(query);
  const { text, problem } = tidy(variables);
  const notes = [note, problem];
  const named = operations.find((operation) => operation.name?.value === name);
  if (name && !named) notes.push(`The link names an operation “${name}”, which its query does not have.`);
  return { operation: { query, variables: text, named }, notes: notes.filter(Boolean) };
}

// operationsOf returns the operations of a query, and what to tell about it.
function operationsOf(query) {
  try {
    const operations = parse(query).definitions.filter(({ kind }) => kind === Kind.OPERATION_DEFINITION);
    const writes = operations.some(({ operation }) => operation === 'mutation');
    const note = `This ${writes ? 'mutation' : (operations[0]?.operation ?? 'query')} came with the link and was not run. ${writes ? 'It changes data when you press the run button.' : 'Press the run button to send it.'}`;
    return { operations, note };
  } catch (error) {
    return { operations: [], note: `The query of the link has an error: ${error.message}` };
  }
}

// tidy returns variables laid out, or as they came with what is wrong with them.
function tidy(variables) {
  if (!variables) return { text: '' };
  try {
    const value = JSON.parse(variables);
    if (value !== null && typeof value === 'object' && !Array.isArray(value)) return { text: JSON.stringify(value, null, 2) };
    return { text: variables, problem: 'The variables of the link are not a JSON object, such as {"first": 5}.' };
  } catch (error) {
    return { text: variables, problem: `The variables of the link are not JSON: ${error.message}` };
  }
}
