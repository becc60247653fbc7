// graphql-sse, in its mode of distinct connections. It does not read the ids of events, which are their positions too.

import { createClient } from "graphql-sse";
import { url } from "../service.mjs";

// retry is for the test, which decides when a client comes again.
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
