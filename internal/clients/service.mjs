// The service under test, as each program here sees it, and waiting for what a client shows.

import assert from "node:assert/strict";

/** The address of the GraphQL endpoint. */
export const url = process.env.TALKBACK_URL;

/** The address of an endpoint that runs only the trusted documents of the program. */
export const trustedUrl = process.env.TALKBACK_TRUSTED_URL;

/** A product that only this program uses. Its comments have the titles `titles`. */
export const product = process.env.TALKBACK_PRODUCT;

/** The titles of the product's comments, newest first. */
export const titles = ["seven", "six", "five", "four", "three", "two", "one"];

/** A page size that leaves the last page not full. */
export const pageSize = 3;

/** The number of pages. */
export const pageCount = Math.ceil(titles.length / pageSize);

/**
 * A comment to add. Its author has the id of the product, since a shop may number both its
 * customers and its products from 1.
 */
export const draft = (title) => ({
  productId: product,
  rating: 4,
  language: "en",
  title,
  text: "Written by a client.",
  author: { id: product, name: "Ada" },
});

/**
 * Headers of a request that may not write: without tokens, the service refuses writes that a proxy
 * passed on.
 */
export const refused = { "X-Forwarded-For": "192.0.2.1" };

/** The titles of a connection's comments. */
export const titlesOf = (connection) => connection.edges.map((edge) => edge.node.title);

/**
 * Follows the numbered links of page 2, page 1 included. `ask` reads a connection with its links by
 * a variable, `page` or `after`.
 */
export async function followLinks(ask) {
  const second = await ask({ page: 2 });
  assert.equal(second.pageNumber, 2);
  assert.equal(second.pageCount, pageCount);
  const { previous, around, last } = second.pageCursors;
  assert.deepEqual([previous.page, last.page], [1, pageCount]);
  assert.deepEqual(around.map(({ page, isCurrent }) => (isCurrent ? `[${page}]` : `${page}`)), ["1", "[2]", "3"]);
  for (const { page, cursor } of around) {
    const linked = await ask({ after: cursor });
    assert.deepEqual(titlesOf(linked), titles.slice((page - 1) * pageSize, page * pageSize));
    assert.equal(linked.pageNumber, page);
  }
}

/**
 * The operations other than the list, made by a client's gql. They read a comment by the fragment
 * Shown.
 */
export const operationsWith = (gql, shown) => ({
  numbered: gql`
    query Numbered($product: ID!, $first: Int, $page: Int, $after: String) {
      product(id: $product) {
        id
        comments(first: $first, page: $page, after: $after) {
          edges { node { ...Shown } }
          pageCount
          pageNumber
          pageCursors(around: 1) {
            previous { page }
            around { page cursor isCurrent }
            last { page }
          }
        }
      }
    }
    ${shown}
  `,
  add: gql`
    mutation Add($input: AddCommentInput!) {
      addComment(input: $input) { commentEdge { cursor node { ...Shown } } userErrors { code path message } }
    }
    ${shown}
  `,
  edit: gql`
    mutation Edit($input: EditCommentInput!) {
      editComment(input: $input) { comment { ...Shown } userErrors { code path message } }
    }
    ${shown}
  `,
  remove: gql`
    mutation Remove($input: DeleteCommentInput!) {
      deleteComment(input: $input) { comment { id } userErrors { code path message } }
    }
  `,
});

// patience bounds each wait for a condition, in milliseconds. Only a failure reaches it.
const patience = 10_000;

/**
 * What a client shows, for clients that show changes a moment later. Call `see` with each change.
 */
export class Screen {
  #changed = () => {};

  see = () => this.#changed();

  /** Waits until `read` returns what is wanted. */
  async shows(read, wanted) {
    const deadline = Date.now() + patience;
    while (JSON.stringify(read()) !== JSON.stringify(wanted) && Date.now() < deadline) {
      await this.#change(deadline - Date.now());
    }
    assert.deepEqual(read(), wanted);
  }

  #change(within) {
    return new Promise((resolve) => {
      const late = setTimeout(resolve, within);
      this.#changed = () => (clearTimeout(late), resolve());
    });
  }
}
