// graphql-codegen: the operations below get their types from the schema, and the TypeScript
// compiler checks this program against them. There is no cache, so the program reads again after a
// write.

import assert from "node:assert/strict";
import { test } from "node:test";
import { graphql } from "./__generated__/gql/gql.js";
import type { CommentFilter, ListQuery, TypedDocumentString } from "./__generated__/gql/graphql.js";

const url = process.env.TALKBACK_URL!;
const product = process.env.TALKBACK_PRODUCT!;
const titles = ["seven", "six", "five", "four", "three", "two", "one"];
const pageSize = 3;

const list = graphql(`
  query List($product: ID!, $filter: CommentFilter, $first: Int!, $after: String) {
    product(id: $product) {
      comments(filter: $filter, first: $first, after: $after) {
        nodes { id title rating language createdAt version author { name } }
        pageInfo { hasNextPage endCursor }
      }
    }
  }
`);
const add = graphql(`
  mutation Add($input: AddCommentInput!) {
    addComment(input: $input) { comment { id version createdAt } userErrors { code path } }
  }
`);
const edit = graphql(`
  mutation Edit($input: EditCommentInput!) {
    editComment(input: $input) { comment { title version } userErrors { code path } }
  }
`);
const remove = graphql(`
  mutation Remove($input: DeleteCommentInput!) {
    deleteComment(input: $input) { comment { id } userErrors { code path } }
  }
`);

type Answer<Data> = { data: Data | null; errors?: { message: string; extensions?: { code?: string } }[] };

async function ask<Data, Variables>(document: TypedDocumentString<Data, Variables>, variables: Variables): Promise<Answer<Data>> {
  const response = await fetch(url, {
    method: "POST",
    headers: { "Content-Type": "application/json", Accept: "application/graphql-response+json" },
    body: JSON.stringify({ query: document.toString(), variables }),
  });
  assert.match(response.headers.get("Content-Type") ?? "", /^application\/graphql-response\+json/);
  return (await response.json()) as Answer<Data>;
}

async function succeed<Data, Variables>(document: TypedDocumentString<Data, Variables>, variables: Variables): Promise<Data> {
  const { data, errors } = await ask(document, variables);
  assert.equal(errors, undefined);
  assert.ok(data);
  return data;
}

type Listed = NonNullable<NonNullable<ListQuery["product"]>["comments"]>;

async function page(first: number, after: string | null = null, filter: CommentFilter | null = null): Promise<Listed> {
  const { product: found } = await succeed(list, { product, first, after, filter });
  assert.ok(found?.comments);
  return found.comments;
}

const titlesOf = (listed: Listed): (string | null | undefined)[] => listed.nodes.map(({ title }) => title);

test("pages follow each other to the end", async () => {
  const seen = [];
  let pages = 0;
  for (let after: string | null | undefined, more = true; more; pages++) {
    const listed = await page(pageSize, after);
    seen.push(...titlesOf(listed));
    ({ endCursor: after, hasNextPage: more } = listed.pageInfo);
  }
  assert.equal(pages, Math.ceil(titles.length / pageSize));
  assert.deepEqual(seen, titles);
});

test("a comment's life", async () => {
  const { addComment } = await succeed(add, {
    input: { productId: product, rating: 4, language: "EN-us", title: "eight", text: "", author: { id: product, name: "Ada" } },
  });
  assert.deepEqual(addComment?.userErrors, []);
  const written = addComment.comment!;
  assert.deepEqual(titlesOf(await page(2)), ["eight", "seven"]);
  assert.deepEqual(titlesOf(await page(2, null, { languages: ["en-US"], createdAfter: written.createdAt })), ["eight"]);

  const change = { id: written.id, version: written.version, title: "eight, again" };
  const { editComment } = await succeed(edit, { input: change });
  assert.deepEqual(editComment, { comment: { title: "eight, again", version: 2 }, userErrors: [] });
  assert.deepEqual(titlesOf(await page(1)), ["eight, again"]);

  const late = await succeed(edit, { input: change });
  assert.deepEqual(late.editComment, { comment: null, userErrors: [{ code: "CONFLICT", path: ["version"] }] });

  const { deleteComment } = await succeed(remove, { input: { id: written.id } });
  assert.deepEqual(deleteComment, { comment: { id: written.id }, userErrors: [] });
  assert.deepEqual(titlesOf(await page(10)), titles);
});

// The client preset makes a manifest with the id of each document.
test("a server that runs trusted documents only runs them by their ids", async () => {
  const byID = async (documentId: string | undefined) => {
    const response = await fetch(process.env.TALKBACK_TRUSTED_URL!, {
      method: "POST",
      headers: { "Content-Type": "application/json", Accept: "application/graphql-response+json" },
      body: JSON.stringify({ documentId, variables: { product, first: 1 } }),
    });
    return (await response.json()) as Answer<ListQuery>;
  };
  const { data } = await byID(list.__meta__?.hash);
  assert.deepEqual(data?.product?.comments?.nodes.map(({ title }) => title), titles.slice(0, 1));
  const { errors } = await byID("sha256:of-another-build");
  assert.deepEqual(errors?.map(({ extensions }) => extensions?.code), ["DOCUMENT_NOT_FOUND"]);
});

test("errors have their codes", async () => {
  const { errors } = await ask(list, { product, first: 1, after: "no cursor" });
  assert.deepEqual(errors?.map(({ extensions }) => extensions?.code), ["BAD_CURSOR"]);
});

// Never run: calls that the schema does not allow must not compile.
export async function misuse(): Promise<void> {
  // @ts-expect-error a variable is missing
  await ask(list, { product });
  // @ts-expect-error a rating is a number
  await ask(edit, { input: { id: "c_", version: 1, rating: "five" } });
  const { deleteComment } = await succeed(remove, { input: { id: "c_" } });
  // @ts-expect-error the title was not asked for
  deleteComment?.comment?.title;
}
