// urql with graphcache: relayPagination joins the pages, and updates write to the normalised cache.
// Queries are sent by GET.

import assert from "node:assert/strict";
import { after, test } from "node:test";
import { Client, fetchExchange, gql } from "@urql/core";
import { cacheExchange } from "@urql/exchange-graphcache";
import { relayPagination } from "@urql/exchange-graphcache/extras";
import { draft, followLinks, operationsWith, pageCount, pageSize, product, refused, titles, titlesOf, url } from "../service.mjs";

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

const embedded = () => null;
const firstPage = { product, first: pageSize };

// eachPage rewrites the edges of every page of the product's comments that is in the cache.
function eachPage(cache, rewrite) {
  const owner = cache.keyOfEntity({ __typename: "Product", id: product });
  for (const { fieldName, fieldKey } of cache.inspectFields(owner)) {
    const page = fieldName === "comments" && cache.resolve(owner, fieldKey);
    if (page) cache.link(page, "edges", rewrite(cache.resolve(page, "edges")));
  }
}

const graphcache = cacheExchange({
  keys: {
    CommentConnection: embedded,
    CommentEdge: embedded,
    PageInfo: embedded,
    UserError: embedded,
    AddCommentPayload: embedded,
    EditCommentPayload: embedded,
    DeleteCommentPayload: embedded,
    // A name is the author's at the time of writing: it belongs to the comment, not to the id.
    Author: embedded,
  },
  resolvers: { Product: { comments: relayPagination() } },
  updates: {
    Mutation: {
      addComment: ({ addComment }, _, cache) => {
        const edge = addComment?.commentEdge; // null unless it was written
        if (!edge) return;
        cache.updateQuery({ query: list, variables: firstPage }, (data) => {
          data?.product?.comments?.edges.unshift(edge); // null if it was not read
          return data;
        });
      },
      deleteComment: ({ deleteComment }, _, cache) => {
        if (!deleteComment?.comment) return; // it was not deleted
        const gone = cache.keyOfEntity(deleteComment.comment);
        eachPage(cache, (edges) => edges.filter((edge) => cache.resolve(edge, "node") !== gone));
      },
    },
  },
});

const requests = [];
const client = new Client({
  url,
  exchanges: [graphcache, fetchExchange],
  fetch: (input, init) => {
    requests.push(init.method);
    return fetch(input, init);
  },
});

// The list as a component has it: subscribed to, so each change shows.
let latest;
const subscription = client.query(list, firstPage).subscribe((result) => (latest = result));
after(() => subscription.unsubscribe());
const connection = () => latest.data.product.comments;

const succeed = async (operation) => {
  const { data, error } = await operation;
  assert.equal(error, undefined);
  return data;
};

test("pages join into one list", async () => {
  await succeed(client.query(list, firstPage));
  assert.deepEqual(titlesOf(connection()), titles.slice(0, pageSize));
  let pages = 1;
  for (; connection().pageInfo.hasNextPage; pages++) {
    await succeed(client.query(list, { ...firstPage, after: connection().pageInfo.endCursor }));
  }
  assert.equal(pages, pageCount);
  assert.deepEqual(titlesOf(connection()), titles);
  assert.deepEqual(requests, Array(pages).fill("GET"));
});

// relayPagination joins all pages of a list in the cache. A numbered page does not belong to them,
// so it is read past the cache.
test("numbered links lead to their pages", async () => {
  const uncached = new Client({ url, exchanges: [fetchExchange] });
  await followLinks(async (place) => {
    const data = await succeed(uncached.query(numbered, { ...firstPage, ...place }));
    return data.product.comments;
  });
});

test("what is added heads the list", async () => {
  const { addComment } = await succeed(client.mutation(add, { input: draft("eight") }));
  assert.deepEqual(addComment.userErrors, []);
  assert.deepEqual(titlesOf(connection()), ["eight", ...titles]);
});

test("what is not written is not in the list", async () => {
  const input = { ...draft("nine"), rating: 6 };
  const { addComment } = await succeed(client.mutation(add, { input }));
  assert.deepEqual(addComment.userErrors.map(({ code }) => code), ["OUT_OF_RANGE"]);
  for (const [mutation, variables] of [[add, { input }], [remove, { input: { id: connection().edges[0].node.id } }]]) {
    const { error } = await client.mutation(mutation, variables, { fetchOptions: { headers: refused } });
    assert.equal(error.graphQLErrors[0].extensions.code, "FORBIDDEN");
  }
  assert.deepEqual(titlesOf(connection()), ["eight", ...titles]);
});

test("a comment can be added before a list was read", async () => {
  const other = new Client({ url, exchanges: [graphcache, fetchExchange] });
  const { addComment } = await succeed(other.mutation(add, { input: { ...draft("other"), productId: `${product}-2` } }));
  assert.deepEqual(addComment.userErrors, []);
});

test("an edit shows in the list", async () => {
  const { id, version } = connection().edges[2].node;
  const { editComment } = await succeed(client.mutation(edit, { input: { id, version, title: "six, again" } }));
  assert.deepEqual(editComment.userErrors, []);
  assert.equal(connection().edges[2].node.title, "six, again");
  assert.equal(connection().edges[2].node.version, version + 1);
});

test("a late edit is a user error and changes nothing", async () => {
  const { id, version } = connection().edges[2].node;
  const { editComment } = await succeed(client.mutation(edit, { input: { id, version: version - 1, title: "late" } }));
  assert.deepEqual(editComment.userErrors.map(({ code, path }) => ({ code, path })), [
    { code: "CONFLICT", path: ["version"] },
  ]);
  assert.equal(connection().edges[2].node.title, "six, again");
});

test("what is deleted leaves the list", async () => {
  const { deleteComment } = await succeed(client.mutation(remove, { input: { id: connection().edges[0].node.id } }));
  assert.deepEqual(deleteComment.userErrors, []);
  assert.deepEqual(titlesOf(connection()), ["seven", "six, again", ...titles.slice(2)]);
});

test("the server has the same list", async () => {
  const fresh = new Client({ url, exchanges: [fetchExchange] });
  const { product: found } = await succeed(fresh.query(list, { product, first: titles.length + 1 }));
  const seen = ({ node }) => [node.id, node.title, node.rating, node.version, node.author.name];
  assert.deepEqual(found.comments.edges.map(seen), connection().edges.map(seen));
});

test("errors arrive as GraphQL errors", async () => {
  const failing = async (query, variables) => {
    const { error } = await client.query(query, variables, { requestPolicy: "network-only" });
    assert.equal(error?.networkError, undefined);
    return error.graphQLErrors;
  };
  const [field] = await failing(list, { product, after: "no cursor" });
  assert.equal(field.extensions.code, "BAD_CURSOR");
  assert.deepEqual(field.path, ["product", "comments"]);
  const [request] = await failing(gql`{ noSuchField }`, {});
  assert.match(request.message, /noSuchField/);
});
