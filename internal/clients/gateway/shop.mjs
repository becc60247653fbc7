// The services of a shop beside Talkback, each a subgraph of Apollo Federation 2.

import { createServer } from "node:http";
import { buildSubgraphSchema } from "@apollo/subgraph";
import { parse } from "graphql";
import { createYoga } from "graphql-yoga";

const link = `extend schema @link(url: "https://specs.apollo.dev/federation/v2.3", import: ["@key", "@shareable"])`;
const product = (id) => ({ __typename: "Product", id, name: `The ${id}` });

/**
 * The service that owns products. It has every field and type of Talkback's schema that such a
 * service may also have.
 */
const products = {
  name: "products",
  sdl: `${link}
    interface Node { id: ID! }
    type Product implements Node @key(fields: "id") { id: ID! name: String! }
    type PageInfo @shareable { hasNextPage: Boolean! hasPreviousPage: Boolean! startCursor: String endCursor: String }
    type ProductConnection { nodes: [Product!]! pageInfo: PageInfo! }
    type Query {
      product(id: ID!): Product
      products(ids: [ID!]!): [Product]!
      catalogue: ProductConnection!
      node(id: ID!): Node
      nodes(ids: [ID!]!): [Node]!
    }`,
  resolvers: {
    Product: { __resolveReference: ({ id }) => product(id) },
    Query: {
      product: (_, { id }) => product(id),
      products: (_, { ids }) => ids.map(product),
      node: (_, { id }) => product(id),
      nodes: (_, { ids }) => ids.map(product),
      catalogue: () => ({ nodes: [product("cup")], pageInfo: { hasNextPage: false, hasPreviousPage: false } }),
    },
  },
};

/** The service of customers, with more fields of the authors of comments. */
const customers = {
  name: "customers",
  sdl: `${link}
    type Author @key(fields: "customerId") { customerId: ID since: Int! }
    type Query { customers: Int! }`,
  resolvers: { Author: { __resolveReference: (keys) => ({ ...keys, since: 2020 }) }, Query: { customers: () => 1 } },
};

/** Starts a service, and returns a subgraph to compose. */
async function start({ name, sdl, resolvers }) {
  const schema = buildSubgraphSchema({ typeDefs: parse(sdl), resolvers });
  const server = createServer(createYoga({ schema, logging: false }));
  server.keepAliveTimeout = 0; // else it closes a connection after 5 idle seconds, perhaps while the next gateway sends by it
  await new Promise((listening) => server.listen(0, "127.0.0.1", listening));
  return { name, sdl, url: `http://127.0.0.1:${server.address().port}/graphql`, close: () => server.close() };
}

/** Starts all services of the shop. */
export const startShop = () => Promise.all([products, customers].map(start));
