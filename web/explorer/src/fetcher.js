// Sends one GraphQL request to the page's own server: a subscription over server-sent events, all
// else as a single answer. The returned object is an observable; unsubscribing cancels the request.
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
      run(request, options?.headers, show, cancel.signal).then(
        () => cancel.signal.aborted || complete(),
      );
      return { unsubscribe: () => cancel.abort() };
    },
  };
}

// run shows the answer or each event of the stream, and finally an error if there is one.
async function run(request, given, show, signal) {
  let headers;
  try {
    headers = new Headers({
      'content-type': 'application/json',
      accept: 'application/graphql-response+json, application/json;q=0.9',
      ...given,
    });
  } catch (reason) {
    return show(
      failure(
        `The request was not sent, for a header cannot be: ${reason.message}. ` +
          'Correct it in the pane of headers.',
      ),
    );
  }
  try {
    if (!isSubscription(request)) {
      return show(
        await answerIn(
          await fetch(url, { method: 'POST', headers, body: JSON.stringify(request), signal }),
        ),
      );
    }
    const client = createClient({ url, headers: Object.fromEntries(headers), retryAttempts: 0 });
    signal.addEventListener('abort', client.dispose);
    for await (const event of client.iterate(request)) show(event);
  } catch (reason) {
    if (reason instanceof RangeError) {
      return show(failure('The answer is nested too deeply to be shown. Ask for less.'));
    }
    const refused = reason.response && (await answerIn(reason.response).catch(() => null));
    show(
      refused ||
        failure(
          `The server does not answer, or stopped in the middle: ${reason.message}. ` +
            'Look whether it runs and can be reached, then press the run button again.',
        ),
    );
  }
}

function isSubscription({ query, operationName }) {
  try {
    return getOperationAST(parse(query), operationName)?.operation === 'subscription';
  } catch {
    return false; // the API reports the syntax error
  }
}

// answerIn returns the JSON answer of an HTTP response. Anything else, such as a proxy's page, is
// shown as it is and not as a JSON error.
async function answerIn(response) {
  const text = (await response.text()).trim();
  return (
    (response.headers.get('content-type')?.includes('json') && objectOf(text)) ||
    failure(`HTTP ${response.status}: ${text || 'nothing else came'}`)
  );
}

const failure = (message) => ({ errors: [{ message }] });

// objectOf returns the object in a JSON text, or null.
function objectOf(text) {
  try {
    const value = JSON.parse(text);
    return typeof value === 'object' && !Array.isArray(value) ? value : null;
  } catch {
    return null;
  }
}
