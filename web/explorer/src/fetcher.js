// One GraphQL request over HTTP, to the server that the page came from. The service has no subscriptions and defers
// nothing, so this is all of the protocol that the explorer needs. What it returns can be unsubscribed from, which cancels
// the request.
import { noteWritten } from './written.js';

export function fetcher(request, options) {
  return {
    subscribe({ next, error, complete }) {
      const cancel = new AbortController();
      send(request, options?.headers, cancel.signal).then(
        (answer) => {
          if (cancel.signal.aborted) return;
          noteWritten(answer);
          next(answer);
          complete();
        },
        (reason) => cancel.signal.aborted || error(reason),
      );
      return { unsubscribe: () => cancel.abort() };
    },
  };
}

async function send(request, headers, signal) {
  const response = await fetch('/graphql', {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/graphql-response+json, application/json;q=0.9',
      ...headers,
    },
    body: JSON.stringify(request),
    signal,
  });
  const type = response.headers.get('content-type') ?? '';
  if (type.includes('json')) return response.json();
  // Not an answer of the API: a proxy's page, say. Show what it was rather than a complaint about JSON.
  return { errors: [{ message: `HTTP ${response.status}: ${(await response.text()).trim()}` }] };
}
