// Relay: compiled fragments, operations sent by their ids, usePaginationFragment rendered without a
// browser, and lists that directives of mutations change.

import assert from "node:assert/strict";
import { after, test } from "node:test";
import { Suspense, createElement } from "react";
import relay from "react-relay";
import renderer from "react-test-renderer";
import runtime from "relay-runtime";
import { Screen, draft, followLinks, pageCount, pageSize, product, titles, trustedUrl as url } from "../service.mjs";
import app from "./__generated__/Comments.js";

const { Comments, query, numbered, add, edit, remove } = app;

const network = runtime.Network.create(async ({ id }, variables) => {
  const response = await fetch(url, {
    method: "POST",
    headers: { "Content-Type": "application/json", Accept: "application/graphql-response+json, application/json;q=0.9" },
    body: JSON.stringify({ documentId: id, variables }),
  });
  return response.json();
});
const environment = new runtime.Environment({
  store: new runtime.Store(new runtime.RecordSource()),
  network,
  // A name is the author's at the time of writing, so the author belongs to the comment.
  getDataID: ({ id }, type) => (type === "Author" ? null : id),
});

// Relay reports problems, such as a record of two types, only to the console.
const warnings = [];
console.error = console.warn = (...words) => warnings.push(words.join(" "));

const screen = new Screen();
let list;
const page = renderer.create(
  createElement(
    relay.RelayEnvironmentProvider,
    { environment },
    createElement(
      Suspense,
      { fallback: null },
      createElement(Comments, { product, count: pageSize, see: screen.see, list: (state) => (list = state) }),
    ),
  ),
);
after(() => page.unmount());

const lines = () => [page.toJSON() ?? []].flat().map(({ children }) => children[0]);
const shows = (wanted) => screen.shows(lines, wanted);
const before = titles.map((title) => `${title} by Ada ${title}`);

const mutate = (mutation, input) =>
  new Promise((resolve, reject) =>
    relay.commitMutation(environment, {
      mutation,
      variables: { input, connections: [list.connection.__id] },
      onCompleted: (data, errors) => (errors ? reject(new Error(JSON.stringify(errors))) : resolve(data)),
      onError: reject,
    }),
  );

test("pages join into one list", async () => {
  await shows(before.slice(0, pageSize));
  let pages = 1;
  for (; list.hasNext; pages++) {
    await new Promise((onComplete) => list.loadNext(pageSize, { onComplete }));
    await shows(before.slice(0, (pages + 1) * pageSize));
  }
  assert.equal(pages, pageCount);
  assert.deepEqual(lines(), before);
});

test("numbered links lead to their pages", () =>
  followLinks(async (place) => {
    const variables = { product, first: pageSize, ...place };
    const data = await relay.fetchQuery(environment, numbered, variables).toPromise();
    return data.product.comments;
  }));

test("what is added heads the list", async () => {
  const { addComment } = await mutate(add, draft("eight"));
  assert.deepEqual(addComment.userErrors, []);
  await shows(["eight by Ada", ...before]);
});

test("an edit shows in the list", async () => {
  const { id, version } = list.connection.edges[2].node;
  const { editComment } = await mutate(edit, { id, version, title: "six, again" });
  assert.deepEqual(editComment.userErrors, []);
  await shows(["eight by Ada", before[0], "six, again by Ada six", ...before.slice(2)]);
});

test("a late edit is a user error and changes nothing", async () => {
  const { id } = list.connection.edges[2].node;
  const { editComment } = await mutate(edit, { id, version: 1, title: "late" });
  assert.deepEqual(editComment.userErrors, [{ code: "CONFLICT", path: ["version"] }]);
  await shows(["eight by Ada", before[0], "six, again by Ada six", ...before.slice(2)]);
});

test("what is deleted leaves the list", async () => {
  const { deleteComment } = await mutate(remove, { id: list.connection.edges[0].node.id });
  assert.deepEqual(deleteComment.userErrors, []);
  await shows([before[0], "six, again by Ada six", ...before.slice(2)]);
});

test("an error in the answer reaches the caller", async () => {
  await assert.rejects(
    mutate(add, { ...draft("nine"), rating: "five" }),
    /rating|Int/,
  );
});

// Relay assumes that ids are unique among all types.
test("a customer of the product's number is not taken for the product", async () => {
  const store = new runtime.Store(new runtime.RecordSource());
  const plain = new runtime.Environment({ store, network });
  await runtime.fetchQuery(plain, query, { product, count: 1 }).toPromise();
  assert.equal(store.getSource().get(product).__typename, "Product");
  assert.equal(store.getSource().get(`author:customer:${product}`).__typename, "Author");
});

test("Relay has nothing to warn of", () => {
  assert.deepEqual(warnings.filter((warning) => !warning.includes("react-test-renderer is deprecated")), []);
});
