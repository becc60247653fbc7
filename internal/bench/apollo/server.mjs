// Serves comments from DynamoDB with Apollo Server in the usual way: it reads the newest items of
// the partition of each rating in the filter, and merges them. It answers the operations of the
// benchmark, prints its address, and prints its processor time for each line on standard input.

import { ApolloServer } from "@apollo/server";
import { startStandaloneServer } from "@apollo/server/standalone";
import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { BatchGetCommand, DynamoDBDocumentClient, QueryCommand } from "@aws-sdk/lib-dynamodb";
import DataLoader from "dataloader";
import { createInterface } from "node:readline";

const table = process.env.BENCH_TABLE;
const client = DynamoDBDocumentClient.from(
  new DynamoDBClient({
    endpoint: process.env.BENCH_ENDPOINT,
    region: "us-east-1",
    credentials: { accessKeyId: "local", secretAccessKey: "local" },
  }),
);

const typeDefs = `#graphql
  scalar DateTime
  scalar Language

  type Query {
    product(id: ID!): Product
    products(ids: [ID!]!): [Product]!
  }

  type Product {
    id: ID!
    comments(filter: CommentFilter, first: Int): CommentConnection
    stats: CommentStats
  }

  input CommentFilter {
    languages: [Language!]
    ratings: [Int!]
  }

  type CommentConnection {
    edges: [CommentEdge!]!
    pageInfo: PageInfo!
  }

  type CommentEdge {
    node: Comment!
  }

  type Comment {
    id: ID!
    rating: Int!
    language: Language!
    title: String
    text: String!
    author: Author!
    createdAt: DateTime!
  }

  type Author {
    name: String!
  }

  type PageInfo {
    hasNextPage: Boolean!
    hasPreviousPage: Boolean!
  }

  type CommentStats {
    total: Int!
    average: Float
    ratings: [RatingCount!]!
  }

  type RatingCount {
    rating: Int!
    count: Int!
  }
`;

/** The partitions of a filter, each as its index and its key. */
function partitions(product, { languages, ratings } = {}) {
  if (!ratings?.length) return [{ index: "all", attribute: "A", key: `P#${product}` }];
  if (!languages?.length) {
    return ratings.map((rating) => ({ index: "byRating", attribute: "R", key: `P#${product}/${rating}` }));
  }
  return languages.flatMap((language) =>
    ratings.map((rating) => ({ index: "byLangAndRating", attribute: "B", key: `P#${product}/${language}/${rating}` })),
  );
}

async function read({ index, attribute, key }, first) {
  const answer = await client.send(
    new QueryCommand({
      TableName: table,
      IndexName: index,
      KeyConditionExpression: `${attribute} = :p`,
      ExpressionAttributeValues: { ":p": key },
      ScanIndexForward: false,
      Limit: first,
      ReturnConsumedCapacity: "TOTAL",
    }),
  );
  return { items: answer.Items, more: answer.LastEvaluatedKey !== undefined };
}

async function comments(product, filter, first) {
  const lists = await Promise.all(partitions(product, filter ?? {}).map((partition) => read(partition, first)));
  const items = lists.flatMap((list) => list.items).sort((a, b) => (a.PK < b.PK ? 1 : -1));
  return {
    edges: items.slice(0, first).map((item) => ({ node: item })),
    pageInfo: { hasNextPage: items.length > first || lists.some((list) => list.more), hasPreviousPage: false },
  };
}

async function statistics(ids) {
  const answer = await client.send(
    new BatchGetCommand({
      RequestItems: { [table]: { Keys: ids.map((id) => ({ PK: `P#${id}`, SK: "S" })) } },
      ReturnConsumedCapacity: "TOTAL",
    }),
  );
  const found = new Map(answer.Responses[table].map((item) => [item.PK, item.g]));
  return ids.map((id) => counted(found.get(`P#${id}`)));
}

/** Sums the counts of all languages in a text such as "de=1,0,0,4,20 en=0,0,2,3,11". */
function counted(languages) {
  const counts = [0, 0, 0, 0, 0];
  for (const language of languages.split(" ")) {
    const ratings = language.slice(language.indexOf("=") + 1).split(",");
    ratings.forEach((count, i) => (counts[i] += Number(count)));
  }
  const total = counts.reduce((sum, count) => sum + count, 0);
  const stars = counts.reduce((sum, count, i) => sum + count * (i + 1), 0);
  return { total, average: stars / total, ratings: [5, 4, 3, 2, 1].map((rating) => ({ rating, count: counts[rating - 1] })) };
}

const alphabet = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";

/** When a comment was written: the first ten letters of its ULID. */
function createdAt(ulid) {
  let milliseconds = 0;
  for (let i = 0; i < 10; i++) milliseconds = milliseconds * 32 + alphabet.indexOf(ulid[i]);
  return new Date(milliseconds).toISOString();
}

const ulidOf = (item) => item.PK.slice("C#".length);

const resolvers = {
  Query: {
    product: (_, { id }) => ({ id }),
    products: (_, { ids }) => ids.map((id) => ({ id })),
  },
  Product: {
    comments: ({ id }, { filter, first }) => comments(id, filter, first),
    stats: ({ id }, _, { stats }) => stats.load(id),
  },
  Comment: {
    id: (item) => `c_${ulidOf(item)}`,
    rating: (item) => item.r,
    language: (item) => item.l,
    title: (item) => item.h,
    text: (item) => item.t,
    author: (item) => ({ name: item.n }),
    createdAt: (item) => createdAt(ulidOf(item)),
  },
};

const server = new ApolloServer({ typeDefs, resolvers });
const { url } = await startStandaloneServer(server, {
  listen: { host: "127.0.0.1", port: 0 },
  context: async () => ({ stats: new DataLoader(statistics) }),
});
console.log(new URL(url).host);

function used(what) {
  const { user, system } = process.cpuUsage();
  let memoryBytes = 0;
  if (what === "memory") {
    globalThis.gc();
    const { heapUsed, external } = process.memoryUsage();
    memoryBytes = heapUsed + external;
  }
  return { cpuMicroseconds: user + system, allocations: 0, memoryBytes };
}

const asked = createInterface({ input: process.stdin });
asked.on("line", (line) => console.log(JSON.stringify(used(line))));
asked.on("close", () => process.exit(0));
