// Subscriptions of urql: over a WebSocket by graphql-ws, or as server-sent events without another
// package.

import { Client, fetchExchange, gql, subscriptionExchange } from "@urql/core";
import { url } from "../service.mjs";

export const overSocket = (socket) =>
  new Client({
    url,
    exchanges: [
      fetchExchange,
      subscriptionExchange({
        forwardSubscription: ({ query, variables }) => ({
          subscribe: (sink) => ({ unsubscribe: socket.subscribe({ query, variables }, sink) }),
        }),
      }),
    ],
  });

export const overHttp = () => new Client({ url, exchanges: [fetchExchange], fetchSubscriptions: true });

export const follow = (client) => (query, variables, { next, error }) => {
  const subscription = client
    .subscription(gql(query), variables)
    .subscribe((result) => (result.error ? error(result.error) : next(result.data)));
  return () => subscription.unsubscribe();
};
