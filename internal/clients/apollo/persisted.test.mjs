// Apollo Client with automatic persisted queries: it sends the text of a query once, and then its
// hash by GET.

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import { ApolloClient, HttpLink, InMemoryCache, gql } from "@apollo/client";
import { PersistedQueryLink } from "@apollo/client/link/persisted-queries";
import { product, titles, url } from "../service.mjs";

const requests = [];
const noted = (address, options) => {
  requests.push(`${options.method} ${`${address} ${options.body}`.includes("query Latest") ? "text" : "hash"}`);
  return fetch(address, options);
};

const persisted = new PersistedQueryLink({
  sha256: (text) => createHash("sha256").update(text).digest("hex"), // in a browser by crypto.subtle
  useGETForHashedQueries: true,
});
const newClient = () =>
  new ApolloClient({ cache: new InMemoryCache(), link: persisted.concat(new HttpLink({ uri: url, fetch: noted })) });

const latest = gql`
  query Latest($product: ID!) {
    product(id: $product) { id comments(first: 1) { nodes { id title } } }
  }
`;

test("the text of a query is sent once", async () => {
  for (let visit = 0; visit < 2; visit++) {
    const { data } = await newClient().query({ query: latest, variables: { product } });
    assert.equal(data.product.comments.nodes[0].title, titles[0]);
  }
  assert.deepEqual(requests, ["GET hash", "POST text", "GET hash"]);
});
