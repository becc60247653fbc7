// urql with automatic persisted queries: it sends the text of a query once, and then its hash by
// GET.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Client, fetchExchange, gql } from "@urql/core";
import { persistedExchange } from "@urql/exchange-persisted";
import { product, titles, url } from "../service.mjs";

const requests = [];
const noted = (address, options) => {
  requests.push(`${options.method} ${decodeURIComponent(`${address} ${options.body}`).includes("Latest($product") ? "text" : "hash"}`);
  return fetch(address, options);
};

const newClient = () =>
  new Client({
    url,
    exchanges: [persistedExchange({ preferGetForPersistedQueries: true }), fetchExchange],
    fetch: noted,
  });

const latest = gql`
  query Latest($product: ID!) {
    product(id: $product) { id comments(first: 1) { nodes { id title } } }
  }
`;

test("the text of a query is sent once", async () => {
  for (let visit = 0; visit < 2; visit++) {
    const { data, error } = await newClient().query(latest, { product });
    assert.equal(error, undefined);
    assert.equal(data.product.comments.nodes[0].title, titles[0]);
  }
  assert.deepEqual(requests.map((request) => request.split(" ")[1]), ["hash", "text", "hash"]);
  assert.equal(requests.at(-1), "GET hash");
});
