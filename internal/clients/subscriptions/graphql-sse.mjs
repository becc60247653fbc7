// graphql-sse, with a connection for each subscription. It ignores the ids of events, which are
// their positions.

import { createClient } from "graphql-sse";
import { url } from "../service.mjs";

// retry lets the test decide when the client reconnects.
export const follow = (retry) => (query, variables, { next, error }) => {
  let position;
  const client = createClient({
    url,
    headers: () => (position ? { "Last-Event-ID": position } : {}), // asked for each time that it connects
    retryAttempts: Infinity,
    retry,
  });
  return client.subscribe(
    { query, variables },
    {
      next({ data, errors, extensions }) {
        position = extensions?.position ?? position;
        if (errors) error(errors); // the last before the stream ends; if the server stops, the client comes again
        if (data) next(data);
      },
      error,
      complete() {},
    },
  );
};
