// Subscriptions of Relay: over a WebSocket by graphql-ws, by the ids of a manifest.

import relay from "react-relay";
import runtime from "relay-runtime";

const { Environment, Network, Observable, RecordSource, Store } = runtime;

export const overSocket = (socket) =>
  new Environment({
    store: new Store(new RecordSource()),
    network: Network.create(
      () => Promise.reject(new Error("only subscriptions are sent here")),
      ({ id }, variables) => Observable.create((sink) => socket.subscribe({ query: "", documentId: id, variables }, sink)),
    ),
  });

export const follow = (environment) => (subscription, variables, { next, error }) => {
  const { dispose } = relay.requestSubscription(environment, { subscription, variables, onNext: next, onError: error });
  return dispose;
};
