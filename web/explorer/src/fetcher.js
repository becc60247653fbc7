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
        error,
      );
      return { unsubscribe: () => cancel.abort() };
    },
  };
}

// send returns the answer of the API, or errors that say why there is none.
async function send(request, headers, signal) {
  let sent;
  try {
    sent = new Headers({ 'content-type': 'application/json', accept: 'application/graphql-response+json, application/json;q=0.9', ...headers });
  } catch (reason) {
    return failure(`The request was not sent, for a header cannot be: ${reason.message}. Correct it in the pane of headers.`);
  }
  let response;
  let text;
  try {
    response = await fetch('/graphql', { method: 'POST', headers: sent, body: JSON.stringify(request), signal });
    text = (await response.text()).trim();
  } catch (reason) {
    return failure(`The server does not answer, or stopped in the middle: ${reason.message}. Look whether it runs and can be reached, then press the run button again.`);
  }
  // Not an answer of the API is a proxy's page, say. Show what it was rather than a complaint about JSON.
  return (response.headers.get('content-type')?.includes('json') && objectOf(text)) || failure(`HTTP ${response.status}: ${text || 'nothing else came'}`);
}

const failure = (message) => ({ errors: [{ message }] });

// objectOf returns the object that a text in JSON is, and null for another text.
function objectOf(text) {
  try {
    const value = JSON.parse(text);
    return typeof value === 'object' && !Array.isArray(value) ? value : null;
  } catch {
    return null;
  }
}
