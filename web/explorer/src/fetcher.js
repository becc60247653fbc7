// One GraphQL request over HTTP, to the server that the page came from: a subscription as a stream of events, and all else
// by one answer. What it returns can be unsubscribed from, which cancels the request.
import { getOperationAST, parse } from 'graphql';
import { createClient } from 'graphql-sse';
import { noteWritten } from './written.js';

const url = '/graphql';

export function fetcher(request, options) {
  return {
    subscribe({ next, complete }) {
      const cancel = new AbortController();
      const show = (answer) => {
        if (cancel.signal.aborted) return;
        noteWritten(answer);
        next(answer);
      };
      run(request, options?.headers, show, cancel.signal).then(() => cancel.signal.aborted || complete());
      return { unsubscribe: () => cancel.abort() };
    },
  };
}

// run shows the answer of the API, or one event after the other, or errors that say why there are no more.
async function run(request, given, show, signal) {
  let headers;
  try {
    headers = new Headers({ 'content-type': 'application/json', accept: 'application/graphql-response+json, application/json;q=0.9', ...given });
  } catch (reason) {
    return show(failure(`The request was not sent, for a header cannot be: ${reason.message}. Correct it in the pane of headers.`));
  }
  try {
    if (!isSubscription(request)) {
      return show(await answerIn(await fetch(url, { method: 'POST', headers, body: JSON.stringify(request), signal })));
    }
    const client = createClient({ url, headers: Object.fromEntries(headers), retryAttempts: 0 });
    signal.addEventListener('abort', client.dispose);
    for await (const event of client.iterate(request)) show(event);
  } catch (reason) {
    if (reason instanceof RangeError) return show(failure('The answer is nested too deeply to be shown. Ask for less.'));
    const refused = reason.response && (await answerIn(reason.response).catch(() => null));
    show(refused || failure(`The server does not answer, or stopped in the middle: ${reason.message}. Look whether it runs and can be reached, then press the run button again.`));
  }
}

function isSubscription({ query, operationName }) {
  try {
    return getOperationAST(parse(query), operationName)?.operation === 'subscription';
  } catch {
    return false; // the API says what is wrong with it
  }
}

// answerIn returns what an HTTP response holds. Not an answer of the API is a proxy's page, say: it is shown as it was, rather
// than a complaint about JSON.
async function answerIn(response) {
  const text = (await response.text()).trim();
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
