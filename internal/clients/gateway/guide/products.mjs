import { createServer } from "node:http";
import { buildSubgraphSchema } from "@apollo/subgraph";
import { parse } from "graphql";
import { createYoga } from "graphql-yoga";

const typeDefs = parse(`
  extend schema @link(url: "https://specs.apollo.dev/federation/v2.3", import: ["@key"])
  interface Node { id: ID! }
  type Product implements Node @key(fields: "id") { id: ID! name: String! }
  type Query {
    product(id: ID!): Product
    products(ids: [ID!]!): [Product]!
    node(id: ID!): Node
  }`);

const names = { "espresso-machine": "Espresso machine", "desk-lamp": "Desk lamp" };
const find = (id) => names[id] && { __typename: "Product", id, name: names[id] };
const resolvers = {
  Product: { __resolveReference: ({ id }) => find(id) },
  Query: {
    product: (_, { id }) => find(id),
    products: (_, { ids }) => ids.map(find),
    node: (_, { id }) => find(id),
  },
};

const yoga = createYoga({ schema: buildSubgraphSchema({ typeDefs, resolvers }) });
createServer(yoga).listen(4001, "127.0.0.1");
