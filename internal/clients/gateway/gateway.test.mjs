// Talkback as a subgraph: both composing libraries join its schema with those of a shop's services,
// which have products and nodes too, and both gateways answer from all of them.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { composeServices as composeByApollo } from "@apollo/composition";
import { ApolloGateway } from "@apollo/gateway";
import { createGatewayRuntime } from "@graphql-hive/gateway-runtime";
import { composeServices as composeByGuild } from "@theguild/federation-composition";
import { parse } from "graphql";
import { draft, product, titles, url } from "../service.mjs";
import { startShop } from "./shop.mjs";

/** Sends an operation to Talkback. */
async function ask(query) {
  const response = await fetch(url, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ query }) });
  return (await response.json()).data;
}

const composers = { "@apollo/composition": composeByApollo, "@theguild/federation-composition": composeByGuild };

/**
 * For each gateway, a function that starts it with a supergraph. It returns functions that answer
 * an operation and that stop the gateway.
 */
const gateways = {
  async "@apollo/gateway"(supergraphSdl) {
    const gateway = new ApolloGateway({ supergraphSdl, logger: { debug() {}, info() {}, warn: console.warn, error: console.error } });
    const { executor } = await gateway.load();
    const answer = (query, variables) =>
      executor({ request: { query, variables, http: { headers: new Map() } }, document: parse(query), operationName: null, context: {}, queryHash: query, metrics: {} });
    return { answer, stop: () => gateway.stop() };
  },
  async "Hive Gateway"(supergraph) {
    const gateway = createGatewayRuntime({ supergraph: () => supergraph, logging: false });
    const answer = async (query, variables) => {
      const body = JSON.stringify({ query, variables });
      const response = await gateway.fetch("http://gateway/graphql", { method: "POST", headers: { "Content-Type": "application/json" }, body });
      return response.json();
    };
    return { answer, stop: () => gateway[Symbol.asyncDispose]() };
  },
};

let shop, subgraphs;

before(async () => {
  shop = await startShop();
  const { _service } = await ask("{ _service { sdl } }");
  subgraphs = [{ name: "talkback", url, sdl: _service.sdl }, ...shop].map(({ sdl, ...of }) => ({ ...of, typeDefs: parse(sdl) }));
});

after(() => shop.forEach((service) => service.close()));

for (const [composer, compose] of Object.entries(composers)) {
  describe(composer, () => {
    let supergraph;

    before(() => {
      const composed = compose(subgraphs);
      assert.deepEqual(composed.errors ?? [], []);
      supergraph = composed.supergraphSdl;
    });

    for (const [name, start] of Object.entries(gateways)) {
      test(name, async () => {
        const { answer, stop } = await start(supergraph);
        try {
          await products(answer);
          await comments(answer);
        } finally {
          await stop();
        }
      });
    }
  });
}

/** The shop's products have comments and statistics, also when they are fetched as nodes. */
async function products(answer) {
  const { data, errors } = await answer(
    `query ($ids: [ID!]!, $id: ID!) {
      products(ids: $ids) { id name stats { total } comments(first: 2) { nodes { title product { name } author { name customerId since } } pageInfo { hasNextPage } } }
      node(id: $id) { id ... on Product { name comments(first: 1) { nodes { title } } } }
      catalogue { nodes { name stats { total } } pageInfo { hasNextPage } }
    }`,
    { ids: [product, "cup"], id: product },
  );
  assert.equal(errors, undefined);
  const node = (title) => ({ title, product: { name: `The ${product}` }, author: { name: `Ada ${title}`, customerId: product, since: 2020 } });
  assert.deepEqual(plain(data), {
    products: [
      { id: product, name: `The ${product}`, stats: { total: titles.length }, comments: { nodes: titles.slice(0, 2).map(node), pageInfo: { hasNextPage: true } } },
      { id: "cup", name: "The cup", stats: { total: 0 }, comments: { nodes: [], pageInfo: { hasNextPage: false } } },
    ],
    node: { id: product, name: `The ${product}`, comments: { nodes: [{ title: titles[0] }] } },
    catalogue: { nodes: [{ name: "The cup", stats: { total: 0 } }], pageInfo: { hasNextPage: false } },
  });
}

/** Talkback's root fields lead back to the shop, and a bad id is an error at its place. */
async function comments(answer) {
  const written = await answer("mutation ($input: AddCommentInput!) { addComment(input: $input) { comment { id product { name } } } }", {
    input: { ...draft("eight"), productId: "pot" },
  });
  assert.equal(written.errors, undefined);
  const { id, product } = written.data.addComment.comment;
  assert.equal(product.name, "The pot");
  const { data, errors } = await answer(`query ($id: ID!) { comment(id: $id) { title product { name } } bad: product(id: "author:x") { name stats { total } } }`, { id });
  assert.deepEqual(plain(data), { comment: { title: "eight", product: { name: "The pot" } }, bad: { name: "The author:x", stats: null } });
  assert.equal(errors.length, 1);
  assert.equal(errors[0].extensions.code, "BAD_INPUT");
}

/** Data without the prototypes of the library that made it. */
const plain = (data) => JSON.parse(JSON.stringify(data));
