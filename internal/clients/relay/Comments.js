// A list of a product's comments in a React application: one fragment for the list and one for each
// comment, pages by usePaginationFragment, and mutations whose directives change the list.

const { createElement, useLayoutEffect } = require("react");
const { graphql, useFragment, useLazyLoadQuery, usePaginationFragment } = require("react-relay");

const listFragment = graphql`
  fragment Comments_product on Product
  @refetchable(queryName: "CommentsPageQuery")
  @argumentDefinitions(count: { type: "Int" }, cursor: { type: "String" }) {
    comments(first: $count, after: $cursor) @connection(key: "Comments_comments") {
      __id
      edges {
        node {
          id
          version
          ...Comments_comment
        }
      }
    }
  }
`;

const commentFragment = graphql`
  fragment Comments_comment on Comment {
    title
    author {
      id
      name
    }
  }
`;

const query = graphql`
  query CommentsQuery($product: ID!, $count: Int!) {
    product(id: $product) {
      id
      ...Comments_product @arguments(count: $count)
    }
  }
`;

const numbered = graphql`
  query CommentsNumberedQuery($product: ID!, $first: Int!, $page: Int, $after: String) {
    product(id: $product) {
      id
      comments(first: $first, page: $page, after: $after) {
        edges {
          node {
            id
            title
          }
        }
        pageCount
        pageNumber
        pageCursors(around: 1) {
          previous {
            page
          }
          around {
            page
            cursor
            isCurrent
          }
          last {
            page
          }
        }
      }
    }
  }
`;

const add = graphql`
  mutation CommentsAddMutation($input: AddCommentInput!, $connections: [ID!]!) {
    addComment(input: $input) {
      commentEdge @prependEdge(connections: $connections) {
        cursor
        node {
          id
          version
          ...Comments_comment
        }
      }
      userErrors {
        code
        path
      }
    }
  }
`;

const edit = graphql`
  mutation CommentsEditMutation($input: EditCommentInput!) {
    editComment(input: $input) {
      comment {
        id
        version
        ...Comments_comment
      }
      userErrors {
        code
        path
      }
    }
  }
`;

const remove = graphql`
  mutation CommentsRemoveMutation($input: DeleteCommentInput!, $connections: [ID!]!) {
    deleteComment(input: $input) {
      comment {
        id @deleteEdge(connections: $connections)
      }
      userErrors {
        code
        path
      }
    }
  }
`;

const events = graphql`
  subscription CommentsEventsSubscription($product: ID!) {
    commentEvents(productId: $product) {
      kind
      commentId
      comment {
        id
        version
        title
      }
    }
  }
`;

const counts = graphql`
  subscription CommentsCountsSubscription($product: ID!) {
    stats(productId: $product) {
      total
    }
  }
`;

/**
 * The product's comments, one line each. It passes the state of the pagination to `list`, and calls
 * `see` on each change.
 */
function Comments({ product, count, list, see }) {
  const data = useLazyLoadQuery(query, { product, count });
  return createElement(List, { product: data.product, list, see });
}

function List({ product, list, see }) {
  const { data, ...pagination } = usePaginationFragment(listFragment, product);
  useLayoutEffect(() => {
    list({ connection: data.comments, ...pagination });
    see();
  });
  return data.comments.edges.map(({ node }) => createElement(Line, { key: node.id, comment: node, see }));
}

function Line({ comment, see }) {
  const { title, author } = useFragment(commentFragment, comment);
  useLayoutEffect(see);
  return createElement("li", null, `${title} by ${author.name}`);
}

module.exports = { Comments, query, numbered, add, edit, remove, events, counts };
