// Apollo Client: relayStylePagination joins the pages, and the normalised cache shows new comments.

import assert from "node:assert/strict";
import { after, test } from "node:test";
import { ApolloClient, CombinedGraphQLErrors, HttpLink, InMemoryCache, gql } from "@apollo/client";
import { relayStylePagination } from "@apollo/client/utilities";
import { Screen, draft, followLinks, operationsWith, pageCount, pageSize, product, refused, titles, titlesOf, url } from "../service.mjs";

const cache = new InMemoryCache({
  possibleTypes: { Node: ["Product", "Comment"] },
  typePolicies: {
    Product: { fields: { comments: relayStylePagination(["filter", "order"]) } },
    // A name is the author's at the time of writing: it belongs to the comment, not to the id.
    Author: { keyFields: false, merge: true },
    // These have no id. Queries for different fields of one are merged.
    CommentStats: { merge: true },
    Moderation: { merge: true },
    Viewer: { merge: true },
    Votes: { merge: true },
  },
});
const client = new ApolloClient({ cache, link: new HttpLink({ uri: url }) });

const shown = gql`
  fragment Shown on Comment {
    id
    title
    rating
    version
    author { id name }
  }
`;
const list = gql`
  query List($product: ID!, $first: Int, $after: String) {
    product(id: $product) {
      id
      comments(first: $first, after: $after) {
        edges { cursor node { ...Shown } }
        pageInfo { hasNextPage hasPreviousPage startCursor endCursor }
      }
    }
  }
  ${shown}
`;
const { numbered, add, edit, remove } = operationsWith(gql, shown);

// The list as a component has it: watched, so each change shows.
const screen = new Screen();
const watched = client.watchQuery({ query: list, variables: { product, first: pageSize } });
const subscription = watched.subscribe(screen.see);
after(() => subscription.unsubscribe());

const connection = () => watched.getCurrentResult().data?.product.comments ?? { edges: [] };
const shows = (wanted) => screen.shows(() => titlesOf(connection()), wanted);

test("pages join into one list", async () => {
  await shows(titles.slice(0, pageSize));
  let pages = 1;
  for (let { pageInfo } = connection(); pageInfo.hasNextPage; pages++) {
    const { data } = await watched.fetchMore({ variables: { after: pageInfo.endCursor } });
    ({ pageInfo } = data.product.comments);
  }
  assert.equal(pages, pageCount);
  await shows(titles);
});

// A numbered page is not part of the joined list, and must not be merged into it.
test("numbered links lead to their pages", () =>
  followLinks(async (place) => {
    const variables = { product, first: pageSize, ...place };
    const { data } = await client.query({ query: numbered, variables, fetchPolicy: "no-cache" });
    return data.product.comments;
  }));

const worst = gql`
  query Worst($product: ID!) {
    product(id: $product) {
      id
      comments(filter: { ratings: [1] }) { edges { cursor node { ...Shown } } pageInfo { hasNextPage endCursor } }
    }
  }
  ${shown}
`;

test("what is added heads the list, and no other", async () => {
  await client.query({ query: worst, variables: { product } });
  const before = cache.readQuery({ query: worst, variables: { product } });
  const { data } = await client.mutate({ mutation: add, variables: { input: draft("eight") }, update: prepend });
  assert.deepEqual(data.addComment.userErrors, []);
  await shows(["eight", ...titles]);
  assert.deepEqual(cache.readQuery({ query: worst, variables: { product } }), before);
});

test("what is not written is not in the list", async () => {
  const input = { ...draft("nine"), rating: 6 };
  const { data } = await client.mutate({ mutation: add, variables: { input }, update: prepend });
  assert.deepEqual(data.addComment.userErrors.map(({ code }) => code), ["OUT_OF_RANGE"]);
  const context = { headers: refused };
  const { error } = await client.mutate({ mutation: add, variables: { input }, update: prepend, context, errorPolicy: "all" });
  assert.equal(error.errors[0].extensions.code, "FORBIDDEN");
  await shows(["eight", ...titles]);
});

function prepend(cache, { data }) {
  const edge = data?.addComment?.commentEdge; // null unless it was written
  if (!edge) return;
  cache.modify({
    id: cache.identify({ __typename: "Product", id: product }),
    fields: {
      // The other lists have a filter or an order.
      comments: (all, { storeFieldName }) =>
        storeFieldName === "comments:{}" ? { ...all, edges: [cacheEdge(edge), ...all.edges] } : all,
    },
  });
}

// cacheEdge returns an edge in the form of the cache, with the comment by its normalised id.
const cacheEdge = (edge) => ({ ...edge, node: { __ref: cache.identify(edge.node) } });

test("an edit shows in the list", async () => {
  const { id, version } = connection().edges[2].node;
  const { data } = await client.mutate({ mutation: edit, variables: { input: { id, version, title: "six, again" } } });
  assert.deepEqual(data.editComment.userErrors, []);
  await shows(["eight", "seven", "six, again", ...titles.slice(2)]);
  assert.equal(connection().edges[2].node.version, version + 1);
});

test("a late edit is a user error and changes nothing", async () => {
  const { id, version } = connection().edges[2].node;
  const { data } = await client.mutate({
    mutation: edit,
    variables: { input: { id, version: version - 1, title: "late" } },
  });
  assert.deepEqual(data.editComment.userErrors.map(({ code, path }) => ({ code, path })), [
    { code: "CONFLICT", path: ["version"] },
  ]);
  await shows(["eight", "seven", "six, again", ...titles.slice(2)]);
});

test("what is deleted leaves the list", async () => {
  const { data } = await client.mutate({
    mutation: remove,
    variables: { input: { id: connection().edges[0].node.id } },
    update: (cache, { data }) => {
      const gone = data?.deleteComment?.comment; // null unless it was deleted
      if (gone) cache.evict({ id: cache.identify(gone) });
      cache.gc();
    },
  });
  assert.deepEqual(data.deleteComment.userErrors, []);
  await shows(["seven", "six, again", ...titles.slice(2)]);
});

// Otherwise the cache drops the fields of the first query, and its component asks again.
test("queries for other fields of the same objects add to each other", async () => {
  const variables = { product, id: connection().edges[0].node.id };
  const asking = (ofViewer, ofModeration, ofStats, ofAuthor, ofVotes) => gql`
    query Part($product: ID!, $id: ID!) {
      viewer { ${ofViewer} }
      moderation { ${ofModeration} }
      product(id: $product) { id stats { ${ofStats} } }
      comment(id: $id) { id author { ${ofAuthor} } votes { ${ofVotes} } }
    }
  `;
  const first = asking("mayWrite", "pending", "total", "id", "helpful");
  const { data } = await client.query({ query: first, variables });
  await client.query({ query: asking("customerId", "queue { nodes { since } }", "average", "customerId", "notHelpful"), variables });
  assert.deepEqual(cache.readQuery({ query: first, variables }), data);
});

test("a customer of the product's number is not taken for the product", async () => {
  const plain = new InMemoryCache({ dataIdFromObject: ({ id }) => id });
  const answer = await client.query({ query: list, variables: { product, first: 1 }, fetchPolicy: "no-cache" });
  plain.writeQuery({ query: list, variables: { product, first: 1 }, data: answer.data });
  const kept = plain.extract();
  assert.equal(kept[product].__typename, "Product");
  assert.equal(kept[`author:customer:${product}`].__typename, "Author");
});

test("the server has the same list", async () => {
  const { data } = await client.query({
    query: list,
    variables: { product, first: titles.length + 1 },
    fetchPolicy: "no-cache",
  });
  assert.deepEqual(data.product.comments.edges, connection().edges);
});

test("errors arrive as GraphQL errors", async () => {
  const failing = (query, variables) =>
    client.query({ query, variables, fetchPolicy: "no-cache" }).then(
      () => assert.fail("no error"),
      (error) => {
        assert.ok(CombinedGraphQLErrors.is(error), `${error.name}: ${error.message}`);
        return error.errors;
      },
    );
  const [field] = await failing(list, { product, after: "no cursor" });
  assert.equal(field.extensions.code, "BAD_CURSOR");
  assert.deepEqual(field.path, ["product", "comments"]);
  const [request] = await failing(gql`{ noSuchField }`);
  assert.match(request.message, /noSuchField/);
});
