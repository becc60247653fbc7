// graphql-ws: one WebSocket for all subscriptions, which resume at their positions after it breaks.

import { createClient } from "graphql-ws";
import WebSocket from "ws";
import { url } from "../service.mjs";

globalThis.WebSocket ??= WebSocket; // browsers have their own, and Node.js from 22 on

// retryWait lets the test decide when the client reconnects.
export const connect = (retryWait) =>
  resuming(
    createClient({
      url: url.replace(/^http/, "ws"),
      shouldRetry: (why) => !(why instanceof Error), // also when no socket can be opened
      retryAttempts: Infinity,
      retryWait,
    }),
  );

// After a break the client sends the payload again, with the position of the last event.
function resuming(client) {
  const subscribe = (payload, sink) =>
    client.subscribe(payload, {
      ...sink,
      next(result) {
        const position = result.extensions?.position;
        if (position) payload.extensions = { ...payload.extensions, position };
        sink.next(result);
      },
    });
  return { ...client, subscribe };
}

export const follow = (client) => (query, variables, { next, error }) =>
  client.subscribe(
    { query, variables },
    {
      next: ({ data }) => next(data),
      error, // the errors of one that is refused, or why there is no socket
      complete() {},
    },
  );
