// Sends requests to the API of the page's own host. All files of this folder are served as one
// script.

const ofTab = storageOf('sessionStorage');
const ofBrowser = storageOf('localStorage');

// storageOf returns a part of the browser's storage. Values that the browser refuses, such as when
// its storage is full, last until the page is left.
function storageOf(name) {
  const refused = {};
  const attempt = (use) => {
    try {
      return use(window[name]);
    } catch {
      return null;
    }
  };
  return {
    keys: () => Object.keys({ ...refused, ...attempt((storage) => storage) }),
    getItem: (key) => refused[key] ?? attempt((storage) => storage.getItem(key)),
    setItem(key, value) {
      refused[key] = value;
      attempt((storage) => {
        storage.setItem(key, value);
        delete refused[key];
      });
    },
    removeItem(key) {
      delete refused[key];
      attempt((storage) => storage.removeItem(key));
    },
  };
}

// The token is kept in the tab's storage only: not in the address, a cookie, or storage that
// outlives the tab.
const tokenKey = 'talkback moderator';
let token = ofTab.getItem(tokenKey) ?? '';

const commentFields = `
  id version status rating language title text createdAt isVerifiedPurchase
  media { url kind alt } product { id } author { name customerId }
  heldEdit { version rating language title text media { url kind alt } }
  reply { version name text }`;

const viewerQuery = 'query Viewer { viewer { customerId mayModerate cannotWriteReason } }';

const queueQuery = `query Queue($after: String, $filter: QueueFilter) {
  viewer { customerId cannotWriteReason mayReply }
  moderation {
    pending
    queue(after: $after, filter: $filter) {
      nodes { reasons since comment { ${commentFields} } }
      pageInfo { hasNextPage endCursor }
    }
  }
}`;

const commentQuery = `query Comment($id: ID!) { comment(id: $id) { ${commentFields} } }`;

const auditQuery = `query Audit($id: ID!) {
  moderation { audit(commentId: $id) { decidedAt by from to version reason note } }
}`;

const reportsQuery = `query Reports($id: ID!) {
  moderation { reports(commentId: $id) { reason note createdAt } }
}`;

const othersQuery = `query Others($customer: ID!) {
  moderation {
    commentsBy(customerId: $customer) {
      total
      latest { id status rating language title text createdAt product { id } }
    }
  }
}`;

const decideMutation = `mutation Decide($decisions: [DecisionInput!]!) {
  decideComments(input: { decisions: $decisions }) {
    results { userErrors { code message path } }
    userErrors { message }
  }
}`;

const replyMutation = `mutation Reply($input: ReplyToCommentInput!) {
  replyToComment(input: $input) { comment { reply { version name text } } userErrors { code message path } }
}`;

const deleteReplyMutation = `mutation DeleteReply($input: DeleteReplyInput!) {
  deleteReply(input: $input) { comment { reply { version name text } } userErrors { code message path } }
}`;

// ask returns the data of an answer and the kind of its first error as `problem`, or "". With
// `keepalive`, the request outlives the page.
async function ask(query, variables, keepalive = false, as = token) {
  try {
    const response = await fetch('/graphql', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', ...(as && { Authorization: `Bearer ${as}` }) },
      body: JSON.stringify({ query, variables }),
      signal: AbortSignal.timeout(30_000),
      keepalive,
    });
    const { data, errors } = await response.json();
    return { data, problem: errors ? problemOf(errors[0].extensions?.code) : '' };
  } catch (error) {
    return { data: null, problem: error instanceof SyntaxError ? 'unavailable' : 'network' };
  }
}

function problemOf(code) {
  if (code === 'UNAUTHENTICATED' || code === 'FORBIDDEN') return code.toLowerCase();
  if (code === 'BAD_INPUT') return 'input';
  return ['THROTTLED', 'OVERLOADED', 'RATE_LIMITED'].includes(code) ? 'busy' : 'unavailable';
}
