// Subscriptions of Apollo Client: over a WebSocket by graphql-ws, or over HTTP without another
// package.

import { ApolloClient, ApolloLink, HttpLink, InMemoryCache, gql } from "@apollo/client";
import { GraphQLWsLink } from "@apollo/client/link/subscriptions";
import { url } from "../service.mjs";

const http = new HttpLink({ uri: url });

export const overSocket = (socket) =>
  new ApolloClient({
    cache: new InMemoryCache(),
    link: ApolloLink.split(({ operationType }) => operationType === "subscription", new GraphQLWsLink(socket), http),
  });

export const overHttp = () => new ApolloClient({ cache: new InMemoryCache(), link: http });

export const follow = (client) => (query, variables, { next, error }) => {
  const subscription = client.subscribe({ query: gql(query), variables }).subscribe({
    next: (result) => (result.error ? error(result.error) : next(result.data)),
    error,
  });
  return () => subscription.unsubscribe();
};
