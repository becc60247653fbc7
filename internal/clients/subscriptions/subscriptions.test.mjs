// Every client of the guide follows the comments of a product and its counts: approved, changed and
// deleted comments. One server stops, and the clients that reconnect go on at another one.

import assert from "node:assert/strict";
import { test } from "node:test";
import * as apollo from "../apollo/subscribe.mjs";
import app from "../relay/__generated__/Comments.js";
import * as relay from "../relay/subscribe.mjs";
import { product, url } from "../service.mjs";
import * as urql from "../urql/subscribe.mjs";
import * as graphqlSse from "./graphql-sse.mjs";
import * as graphqlWs from "./graphql-ws.mjs";

/** The server that stays, the process of the other one, and the limit of subscriptions of each. */
const { TALKBACK_OTHER_URL: staying, TALKBACK_LEAVING, TALKBACK_SUBSCRIPTIONS: most } = process.env;
const leaving = Number(TALKBACK_LEAVING);

const events = `
  subscription Events($product: ID!) {
    commentEvents(productId: $product) { kind commentId comment { id version title } }
  }
`;
const counts = `
  subscription Counts($product: ID!) { stats(productId: $product) { total } }
`;

// Clients reconnect after a write that they would miss without a position.
let written;
const gap = new Promise((resolve) => (written = resolve));
const socket = graphqlWs.connect(() => gap);

const sentenceOf = (error) => [error].flat().map(({ message }) => message).join();

/** The events that a client got. */
class Follower {
  events = [];
  totals = [];
  said = [];

  constructor(name, follow, [events, counts], comesAgain) {
    Object.assign(this, { name, follow, documents: { events, counts }, comesAgain });
  }

  begin() {
    const error = (error) => this.said.push(sentenceOf(error));
    this.stops = [
      this.follow(this.documents.events, { product }, { error, next: ({ commentEvents }) => this.events.push(commentEvents) }),
      this.follow(this.documents.counts, { product }, { error, next: ({ stats }) => this.totals.push(stats.total) }),
    ];
  }

  end() {
    for (const stop of this.stops) stop();
  }

  saw(id, kind, title) {
    return this.events.some((event) => event.commentId === id && event.kind === kind && event.comment?.title === title);
  }
}

const texts = [events, counts];
const followers = [
  new Follower("graphql-ws", graphqlWs.follow(socket), texts, true),
  new Follower("graphql-sse", graphqlSse.follow(() => gap), texts, true),
  new Follower("Apollo Client over a socket", apollo.follow(apollo.overSocket(socket)), texts, true),
  new Follower("Apollo Client over HTTP", apollo.follow(apollo.overHttp()), texts, false),
  new Follower("urql over a socket", urql.follow(urql.overSocket(socket)), texts, true),
  new Follower("urql over HTTP", urql.follow(urql.overHttp()), texts, false),
  new Follower("Relay", relay.follow(relay.overSocket(socket)), [app.events, app.counts], true),
];

/** Waits for a condition without a limit: the Go test ends this program in time. */
async function until(so, tries = Infinity) {
  for (let n = 0; !so() && n < tries; n++) await new Promise((resolve) => setTimeout(resolve, 20));
}
const all = (so) => until(() => followers.every(so));

function isGone() {
  try {
    return !process.kill(leaving, 0);
  } catch {
    return true;
  }
}

let shown = 0; // how many comments of the product are approved

async function write(mutation, input) {
  const type = `${mutation[0].toUpperCase()}${mutation.slice(1)}Input`;
  const response = await fetch(staying, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({
      query: `mutation Write($input: ${type}!) { ${mutation}(input: $input) { comment { id version heldEdit { version } } userErrors { message } } }`,
      variables: { input },
    }),
  });
  const { data, errors } = await response.json();
  assert.equal(errors, undefined, JSON.stringify(errors));
  assert.deepEqual(data[mutation].userErrors, []);
  return data[mutation].comment;
}

/** Adds a comment, which waits for a moderator, and approves it. */
async function add(title) {
  const draft = { productId: product, rating: 4, language: "en", title, text: "Written.", author: { id: "u", name: "Ada" } };
  const { id, version } = await write("addComment", draft);
  await write("approveComment", { id, version });
  shown++;
  return id;
}

test("every client is told of a comment that comes, changes and goes", async () => {
  for (const follower of followers) follower.begin();
  await all(({ totals }) => totals.length > 0);
  // A subscription over a WebSocket begins some time after its message.
  const begun = () => followers.every(({ events }) => events.length > 0);
  while (!begun()) {
    await add("first");
    await until(begun, 100);
  }
  const id = await add("new");
  await all((follower) => follower.saw(id, "ADDED", "new"));
  await all(({ totals }) => totals.at(-1) === shown);
  const { heldEdit } = await write("editComment", { id, version: 1, title: "edited" });
  const { version } = await write("approveComment", { id, version: heldEdit.version });
  await all((follower) => follower.saw(id, "CHANGED", "edited"));
  await write("rejectComment", { id, version, reason: "SPAM" });
  shown--;
  await all((follower) => follower.saw(id, "GONE", undefined));
  await all(({ totals }) => totals.at(-1) === shown);
  assert.deepEqual(followers.map(({ said }) => said).flat(), []);
});

test("what is refused says why", async () => {
  for (const { name, follow, documents } of followers) {
    let why;
    const error = (error) => (why ??= sentenceOf(error));
    const stop = follow(documents.events, { product: "author:1" }, { next: assert.fail, error });
    await until(() => why);
    assert.match(why, /author:/, name);
    stop();
  }
});

test("when a server stops, clients go on where they were", async () => {
  process.kill(leaving, "SIGTERM");
  const ended = followers.filter(({ comesAgain }) => !comesAgain);
  await until(() => ended.every(({ said }) => said.some((sentence) => /subscribe again/.test(sentence))));
  await until(isGone);
  const id = await add("meanwhile");
  written();
  for (const follower of ended) follower.begin();
  await all((follower) => !follower.comesAgain || follower.saw(id, "ADDED", "meanwhile"));
  await all(({ totals }) => totals.at(-1) === shown);
});

test("what a client unsubscribes from is free for others", async () => {
  for (const follower of followers) follower.end();
  const query = `subscription { stats(productId: "${product}") { total } }`;
  for (let free = 0; free < most; ) {
    const { body } = await fetch(`${url}?query=${encodeURIComponent(query)}`, { headers: { Accept: "text/event-stream" } });
    const reader = body.pipeThrough(new TextDecoderStream()).getReader();
    let text = "";
    while (!/total|TOO_MANY/.test(text)) text += (await reader.read()).value;
    if (text.includes("total")) free++;
  }
});
