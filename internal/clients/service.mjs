// What each program here is told of the service under test, and how it waits for what its client shows.

import assert from "node:assert/strict";

/** The address of the GraphQL endpoint. */
export const url = process.env.TALKBACK_URL;

/** The address of one that runs the trusted documents of the program only. */
export const trustedUrl = process.env.TALKBACK_TRUSTED_URL;

/** A product that the program has for itself, with comments whose titles are `titles`. */
export const product = process.env.TALKBACK_PRODUCT;

/** The titles of the product's comments, newest first. */
export const titles = ["seven", "six", "five", "four", "three", "two", "one"];

/** A page size that parts them into pages of which the last is not full. */
export const pageSize = 3;

/** How many pages that makes. */
export const pageCount = Math.ceil(titles.length / pageSize);

/** A comment to add. Its author has the id of the product: a shop may number its customers and its products from 1 both. */
export const draft = (title) => ({
  productId: product,
  rating: 4,
  language: "en",
  title,
  text: "Written by a client.",
  author: { id: product, name: "Ada" },
});

/** Headers with which the service refuses to write: without tokens, it takes no writes that a proxy passed on. */
export const refused = { "X-Forwarded-For": "192.0.2.1" };

/** The titles of a connection's comments. */
export const titlesOf = (connection) => connection.edges.map((edge) => edge.node.title);

/**
 * Follows the numbered links of page 2, page 1 included. `ask` reads a connection with its links, by variables `page` or
 * `after`.
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

/** The operations beside the list, as a client's gql makes them. They ask for a comment by the fragment Shown. */
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

// patience bounds each wait for a condition, in milliseconds. It is reached only by a failure.
const patience = 10_000;

/** What a client shows, for those that show changes a moment later: `see` is told of each change. */
export class Screen {
  #changed = () => {};

  see = () => this.#changed();

  /** Waits until what `read` finds is as wanted. */
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
