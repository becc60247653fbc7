// The moderators' page: signing in, the queue, and decisions, which can be undone for some seconds
// before they are sent.

// How long a decision can be undone before it is sent, in milliseconds.
const undoTime = 10_000;
// The most decisions in one request, and roughly the most bytes of them.
const mostDecisions = 50;
const mostBytes = 12_000;
// The most bytes of decisions to send when the page is left. Browsers limit such requests to 64
// KiB: https://fetch.spec.whatwg.org/#http-network-or-cache-fetch
const mostAtEnd = 48_000;

// The comments in the list, as {queued, li, state, verdict}. The state is open, decided (can be
// undone), sending, saved, failed or gone.
let items = [];
// Decisions that are not sent yet, as {items, timer}, the latest last.
let batches = [];
const requests = new Set(); // promises of the decisions being sent
let waiting = 0; // the number of comments in the queue, as far as known
let next = ''; // the cursor of the next page; "" at the end
let unread = null; // a failed load to repeat: {after, problem}
let problem = ''; // why decisions could not be saved
let loads = 0;
let reading = false; // whether a page is being loaded
let mayReply = false; // whether the moderator may reply in the shop's name
let chosenTags = []; // the filter's languages when they were last valid

// ---- Signing in ----

function signIn(message) {
  byId('desk').hidden = byId('sign-out').hidden = true;
  byId('sign-in').hidden = false;
  byId('sign-in').classList.toggle('off', message === 'off');
  byId('sign-in-error').textContent = message && say(message);
  byId('token').focus();
}

// refuse shows why there is no queue, or the sign-in form if a token would help.
function refuse(viewer, problem) {
  if (viewer?.cannotWriteReason === 'WRITING_OFF' && !token) return signIn('off');
  if (problem === 'unauthenticated') return signIn(token && 'signin.refused');
  if (problem === 'forbidden') return signIn(token && 'signin.other');
  unread = { after: next, problem };
  byId('desk').hidden = false;
  byId('sign-in').hidden = true;
  draw();
}

// The customer id of the tab's token, or "" if the token names nobody. Decisions and drafts belong
// to that moderator alone.
const signerKey = 'talkback signer';
const nameOf = (viewer) => viewer.customerId ?? '';
let asking = ''; // the token that is being checked

byId('sign-in').addEventListener('submit', async (event) => {
  event.preventDefault();
  const field = byId('token');
  const given = field.value.trim();
  // A header can hold no other characters.
  if (!/^[!-~]+$/.test(given)) return signIn(given ? 'signin.refused' : 'signin.empty');
  if (given === asking) return; // Enter was pressed twice or held down
  asking = given;
  byId('sign-in-error').textContent = ''; // from an earlier attempt
  // Checks the token before anything is sent with it.
  const { data, problem } = await ask(viewerQuery, {}, false, given);
  if (given !== asking) return;
  asking = '';
  // Keeps the token in the field for a retry.
  if (!data && problem !== 'unauthenticated') return signIn(`error.${problem || 'unavailable'}`);
  field.value = '';
  if (!data || data.viewer.cannotWriteReason === 'TOKEN_REFUSED') return signIn('signin.refused');
  if (!data.viewer.mayModerate) return signIn('signin.other');
  if (nameOf(data.viewer) !== ofTab.getItem(signerKey)) forget();
  token = given;
  ofTab.setItem(tokenKey, token);
  refresh();
});

byId('sign-out').addEventListener('click', async () => {
  const known = failed().length > 0;
  do {
    if (!await settle() && !known) return; // the page says why; signing out again discards them
  } while (batches.length > 0); // there may be new decisions
  token = '';
  forget();
  signIn('');
});

// forget discards a moderator's decisions and drafts, because nobody else may send them. It leaves
// other keys of the tab's storage alone, such as a shop's cart or a customer's draft.
function forget() {
  batches.flatMap(take);
  loads++; // drops the answers of requests under way
  for (const key of ofTab.keys()) {
    if (key === tokenKey || key === signerKey || key.startsWith(replyKey)) ofTab.removeItem(key);
  }
  items = [];
  unread = null;
  byId('queue').replaceChildren();
  draw();
}

// ---- The queue ----

// refresh sends all decisions and reloads the queue from its start. Decisions that fail stay
// visible.
async function refresh() {
  if (await settle()) await load('');
}

async function load(after) {
  const mine = ++loads;
  let found = [];
  announce(say('loading'));
  unread = null;
  next = after;
  do { // with a filter, a page may be empty although more follow
    reading = true;
    byId('count').textContent = say('loading');
    const { data, problem } = await ask(queueQuery, { after: next || null, filter: wanted() });
    if (mine !== loads) return;
    reading = false;
    if (!data?.moderation) return refuse(data?.viewer, problem);
    const { pending, queue } = data.moderation;
    mayReply = data.viewer.mayReply;
    ofTab.setItem(signerKey, nameOf(data.viewer));
    waiting = pending < 1000 ? pending - items.filter(isUnsent).length : Infinity;
    next = queue.pageInfo.hasNextPage ? queue.pageInfo.endCursor : '';
    found = queue.nodes;
  } while (found.length === 0 && next);
  byId('sign-in').hidden = true;
  byId('desk').hidden = false;
  byId('sign-out').hidden = !token;
  show(found, after);
}

const isUnsent = ({ state }) => /decided|sending|failed/.test(state);

// show appends comments to the list, or replaces the list if they are its first page. Comments
// decided while the page loaded stay. Open dialogs keep their comment, and a moderator who moved to
// one keeps the focus there.
function show(found, after) {
  const at = current();
  const before = after ? [] : items;
  if (!after) items = items.filter(isUnsent);
  const known = new Set(
    items
      .filter((item) => item.state === 'open' || isUnsent(item))
      .map(({ queued }) => queued.comment.id),
  );
  const added = found
    .filter(({ comment }) => !known.has(comment.id))
    .map((queued) => {
      const li = byId('item').content.cloneNode(true).firstElementChild;
      const same = before.find(({ queued: { comment } }) => comment.id === queued.comment.id);
      return Object.assign(same ?? {}, { queued, li, state: 'open', verdict: null });
    });
  items.push(...added);
  for (const item of added) {
    drawItem(item);
    set(item, 'open');
  }
  for (const li of [...byId('queue').children]) {
    if (!items.some((item) => item.li === li)) li.remove();
  }
  byId('queue').append(...added.map(({ li }) => li));
  for (const { li } of added) letScroll(li);
  draw();
  announce(added.length ? waitingText() : byId('empty').textContent);
  // The moderator is busy elsewhere.
  if (current() || byId('filter').contains(document.activeElement)) return;
  if (at && open().includes(at)) focusOn(at);
  else if (added.length) focusOn(added[0]);
  else byId('empty').focus();
}

// wanted returns the filter for the API. While a language tag is invalid, the last valid ones
// apply.
function wanted() {
  const reasons = [...document.querySelectorAll('#filter :checked')].map(({ value }) => value);
  try {
    chosenTags = tags();
  } catch {} // the field shows the error
  return { reasons, languages: chosenTags, productId: byId('product').value.trim() || null };
}

// tags returns the filter's languages. It throws a RangeError if one is no language tag. The tags
// are sent as typed: for some, browsers and the service have different canonical forms, such as zh
// for cmn. Browsers also reject private-use tags, which are therefore checked as part of "und-x".
function tags() {
  const typed = byId('languages').value.split(/[\s,;]+/).filter(Boolean);
  Intl.getCanonicalLocales(typed.map((tag) => tag.replace(/^x-/i, 'und-x-')));
  return typed;
}

byId('filter').addEventListener('change', () => {
  const field = byId('languages');
  try {
    tags();
    field.setCustomValidity('');
    refresh();
  } catch {
    field.setCustomValidity(say('filter.languages.wrong'));
    field.reportValidity();
  }
});

byId('filter').querySelector('form').addEventListener('submit', (event) => event.preventDefault());

byId('clear').addEventListener('click', () => {
  byId('filter').querySelector('form').reset();
  byId('languages').setCustomValidity('');
  refresh();
});

byId('refresh').addEventListener('click', refresh);
byId('more').addEventListener('click', () => load(next));

// A page restored from the back/forward cache shows an outdated queue.
addEventListener('pageshow', ({ persisted }) => persisted && location.reload());

// ---- Decisions ----

const open = () => items.filter(({ state }) => state === 'open');
const failed = () => items.filter(({ state }) => state === 'failed');
const sending = () => items.filter(({ state }) => state === 'sending');
const picked = () => open().filter(({ li }) => li.querySelector('.pick input').checked);

// decide records a decision about comments and sends it after undoTime.
function decide(decided, reason, note = '') {
  for (const item of decided) item.note = note; // kept for another attempt
  const focused =
    decided.some(({ li }) => li.contains(document.activeElement)) || decided.length > 1;
  const batch = { items: decided, timer: setTimeout(() => send(take(batch)), undoTime) };
  batches.push(batch);
  const last = items.indexOf(decided.at(-1));
  for (const item of decided) set(item, 'decided', { reason, note });
  waiting -= decided.length;
  draw();
  announce(count(reason ? 'done.rejected' : 'done.approved', decided.length));
  if (focused || document.activeElement === document.body) moveOn(last);
  if (open().length === 0 && next) load(next);
}

// undo reopens comments whose decisions are not sent yet or failed.
function undo(undone) {
  for (const batch of batches) {
    batch.items = batch.items.filter((item) => !undone.includes(item));
    if (batch.items.length === 0) clearTimeout(batch.timer);
  }
  batches = batches.filter((batch) => batch.items.length > 0);
  for (const item of undone) set(item, 'open', null);
  waiting += undone.length;
  draw();
  announce(say('done.undone'));
  if (undone.length) focusOn(undone[0]);
}

// take removes a batch and its timer, and returns its comments.
function take(batch) {
  clearTimeout(batch.timer);
  batches = batches.filter((other) => other !== batch);
  return batch.items;
}

// settle sends all decisions and waits for those under way. It reports whether all are saved.
async function settle() {
  const unsent = [...batches.flatMap(take), ...failed()];
  const all = [...unsent, ...sending()];
  problem = '';
  await Promise.all([send(unsent), ...requests]);
  return all.every(({ state }) => state === 'saved' || state === 'gone');
}

async function send(all, keepalive = false) {
  const request = Promise.all(partsOf(all).map((part) => sendPart(part, keepalive)));
  requests.add(request);
  await request;
  requests.delete(request);
  draw();
}

// partsOf divides decided comments into one list for each request.
function partsOf(all) {
  const parts = [];
  let bytes = 0;
  for (const item of all) {
    const more = bytesOf([item]);
    if (parts.length === 0 || parts.at(-1).length === mostDecisions || bytes + more > mostBytes) {
      parts.push([]);
      bytes = 0;
    }
    parts.at(-1).push(item);
    bytes += more;
  }
  return parts;
}

// decisionsOf returns the decisions about comments as input of the API.
const decisionsOf = (all) => all.map(({ queued: { comment }, verdict: { reason, note } }) => ({
  id: comment.id, version: (comment.heldEdit ?? comment).version, reason, note: note || null,
}));

const bytesOf = (all) => new Blob([JSON.stringify(decisionsOf(all))]).size;

async function sendPart(part, keepalive) {
  for (const item of part) set(item, 'sending');
  const answer = await ask(decideMutation, { decisions: decisionsOf(part) }, keepalive);
  const results = answer.data?.decideComments?.results;
  if (results?.length !== part.length) {
    problem = answer.problem || 'unavailable';
    for (const item of part) set(item, 'failed');
    if (problem === 'unauthenticated') signIn('signin.again');
    return;
  }
  await Promise.all(part.map((item, i) => judge(item, results[i].userErrors[0])));
}

// judge handles the result of one decision.
async function judge(item, wrong) {
  const { queued, verdict } = item;
  if (!wrong && verdict.reason && queued.comment.heldEdit && queued.reasons.includes('REPORTED')) {
    queued.comment.heldEdit = null; // only the edit was rejected; the report remains
    queued.reasons = ['REPORTED'];
    item.note = '';
    return reopen(item, say('edit.rejected'));
  }
  if (!wrong) return set(item, 'saved');
  if (wrong.code === 'CONFLICT') return renew(item);
  if (wrong.code === 'NOT_FOUND') return set(item, 'gone');
  reopen(item, faultOf(wrong));
}

// renew reloads a comment that changed before the decision. If it no longer waits, it is marked as
// gone.
async function renew(item) {
  const { data, problem: wrong } = await ask(commentQuery, { id: item.queued.comment.id });
  if (wrong) {
    problem = wrong;
    return set(item, 'failed');
  }
  const { status, heldEdit } = data.comment ?? {};
  const reported = status === 'APPROVED' && item.queued.reasons.includes('REPORTED');
  if (status !== 'PENDING' && !heldEdit && !reported) return set(item, 'gone');
  item.queued.comment = data.comment;
  // The other reasons were about the edit.
  if (status === 'APPROVED' && !heldEdit) item.queued.reasons = ['REPORTED'];
  reopen(item, say('conflict'));
}

function reopen(item, notice) {
  waiting++;
  set(item, 'open', null);
  drawItem(item);
  // They show the state before the decision.
  for (const details of item.li.querySelectorAll('.record')) details.open = false;
  notify(item, notice);
}

// notify shows a notice above a comment; "" removes it.
function notify(item, notice) {
  const at = item.li.querySelector('.notice');
  at.textContent = notice;
  at.hidden = !notice;
  announce(notice);
}

byId('retry').addEventListener('click', async () => {
  if (await settle() && unread) await load(unread.after);
});

// Sends the remaining decisions when the page is left, because they can no longer be undone.
// Decisions under way are sent again, because the browser aborts their requests. If they are too
// many for a request that outlives the page, they are sent while the browser asks whether to leave.
addEventListener('pagehide', () => send([...sending(), ...batches.flatMap(take)], true));
addEventListener('beforeunload', (event) => {
  const tooMuch = bytesOf([...sending(), ...batches.flatMap(({ items }) => items)]) > mostAtEnd;
  if (tooMuch) send(batches.flatMap(take));
  if (tooMuch || failed().length > 0) event.preventDefault();
});

// ---- History, reports, and what else the author wrote ----

// The records of a comment, loaded when a moderator opens one, by name. `lines` returns no element
// if there is nothing to show.
const records = {
  history: {
    query: auditQuery,
    variables: ({ id }) => ({ id }),
    lines: ({ audit }) => audit.map(decisionLine),
  },
  reports: {
    query: reportsQuery,
    variables: ({ id }) => ({ id }),
    lines: ({ reports }) => reports.map(reportLine),
  },
  others: {
    query: othersQuery,
    variables: ({ author }) => ({ customer: author.customerId }),
    lines: ({ commentsBy }, comment) => otherLines(commentsBy, comment),
  },
};

byId('queue').addEventListener(
  'toggle',
  ({ target }) => target.matches('.record[open]') && showRecord(target),
  true,
);

async function showRecord(details) {
  const { comment } = itemOf(details).queued;
  const list = details.querySelector('ul');
  const { query, variables, lines } = records[details.dataset.record];
  list.replaceChildren(element('li', say('record.loading')));
  const { data, problem } = await ask(query, variables(comment));
  if (!data?.moderation) return list.replaceChildren(element('li', why(problem)));
  const found = lines(data.moderation, comment);
  list.replaceChildren(
    ...(found.length ? found : [element('li', say(`${details.dataset.record}.none`))]),
  );
}

// ---- Rejecting ----

let rejected = []; // the comments that the dialog is about

function askReason(about) {
  if (about.length === 0) return;
  rejected = about;
  const dialog = byId('reject');
  dialog.querySelector('form').reset();
  byId('note').value = about.length === 1 ? about[0].note ?? '' : '';
  dialog.returnValue = '';
  byId('reject-error').textContent = '';
  const edits = about.filter(({ queued: { comment } }) => comment.heldEdit).length;
  byId('reject-hint').textContent = [
    edits < about.length && say('reject.hint'),
    edits && say('reject.edit'),
  ]
    .filter(Boolean)
    .join(' ');
  byId('reject-title').textContent =
    about.length === 1 ? say('reject.title') : say('reject.several', { n: about.length });
  dialog.showModal();
}

const chosenReason = () => byId('reject').querySelector(':checked');

byId('reject').addEventListener('submit', (event) => {
  if (chosenReason()) return;
  event.preventDefault();
  byId('reject-error').textContent = say('reject.missing');
  byId('reject').querySelector('[type=radio]').focus();
});

byId('reject').addEventListener('close', ({ target }) => {
  if (target.returnValue !== 'reject') return;
  target.returnValue = ''; // "close" of an earlier Escape may arrive late, together with this one
  decide(rejected, chosenReason().value, byId('note').value.trim());
});

byId('reject').addEventListener('keydown', (event) => {
  const radio = byId('reject').querySelectorAll('[type=radio]')[event.key - 1];
  if (radio && event.target !== byId('note')) {
    radio.checked = true;
    radio.focus();
  }
});

byId('reject-cancel').addEventListener('click', () => byId('reject').close());

// ---- Replying ----

let replying = null; // the comment that the dialog is about

// Key of a reply's draft. The tab keeps it until the reply is saved or cancelled.
const replyKey = 'talkback reply ';
const draftKey = ({ queued: { comment } }) => replyKey + comment.id;

function askReply(item) {
  replying = item;
  byId('reply-error').textContent = byId('reply-done').textContent = '';
  byId('reply-delete').hidden = !item.queued.comment.reply;
  byId('reply-text').value = ofTab.getItem(draftKey(item)) ?? item.queued.comment.reply?.text ?? '';
  byId('reply').showModal();
}

byId('reply-text').addEventListener('input', ({ target }) =>
  ofTab.setItem(draftKey(replying), target.value),
);

byId('reply').addEventListener('submit', async (event) => {
  event.preventDefault();
  const item = replying;
  const text = byId('reply-text').value;
  const version = item.queued.comment.reply?.version ?? null;
  const { saved, goesOn } = await changeReply(item, replyMutation, { version, text });
  if (!saved) return;
  if (ofTab.getItem(draftKey(item)) === text) ofTab.removeItem(draftKey(item));
  if (!goesOn || byId('reply-text').value !== text) return; // the moderator typed on meanwhile
  byId('reply').close();
  announce(say('reply.saved'));
});

// The text of a deleted reply stays in the dialog, so that it can be saved again.
byId('reply-delete').addEventListener('click', async () => {
  const { version } = replying.queued.comment.reply;
  const { saved, goesOn } = await changeReply(replying, deleteReplyMutation, { version });
  if (!saved || !goesOn) return;
  byId('reply-done').textContent = say('reply.deleted');
  byId('reply-text').focus();
});

// changeReply changes the reply to a comment. It returns whether that is saved, and whether the
// dialog still shows that comment. After a conflict, it loads the current reply, so that the next
// attempt replaces that one. While the same change is under way it does nothing: a second press
// would only conflict with the first.
async function changeReply(item, mutation, input) {
  const change = JSON.stringify([mutation, input]);
  if (item.sending === change) return {};
  item.sending = change;
  const { id } = item.queued.comment;
  const { data, problem } = await ask(mutation, { input: { id, ...input } });
  const payload = data?.replyToComment ?? data?.deleteReply;
  const late = /CONFLICT|NOT_FOUND/.test(payload?.userErrors[0]?.code);
  const now = late ? (await ask(commentQuery, { id })).data : payload;
  item.sending = '';
  if (now?.comment) {
    item.queued.comment.reply = now.comment.reply;
    drawItem(item);
  }
  const isGone = now?.comment && !now.comment.reply;
  const wrong =
    late && isGone
      ? say('fault.id.NOT_FOUND')
      : payload
        ? faultOf(payload.userErrors[0])
        : why(problem);
  const saved = !!payload?.comment;
  const goesOn = item === replying && byId('reply').open;
  notify(item, goesOn ? '' : wrong);
  if (!goesOn) return { saved };
  const { reply } = item.queued.comment;
  byId('reply-done').textContent =
    late && now?.comment?.reply ? say('reply.now', { text: reply.text }) : '';
  byId('reply-delete').hidden = !reply;
  byId('reply-error').textContent = wrong;
  if (problem === 'unauthenticated') {
    byId('reply').close();
    signIn('signin.again');
  }
  return { saved, goesOn };
}

byId('reply-cancel').addEventListener('click', () => {
  ofTab.removeItem(draftKey(replying));
  byId('reply').close();
});

// ---- Mouse, keys and focus ----

const itemOf = (node) => items.find(({ li }) => li.contains(node));
const current = () => open().find(({ li }) => li.contains(document.activeElement));

function focusOn(item) {
  item.li.querySelector('article').focus();
}

// moveOn focuses the next open comment after a place in the list, or else the last open one.
function moveOn(place) {
  const following = items.slice(place + 1).find(({ state }) => state === 'open') ?? open().at(-1);
  if (following) focusOn(following);
  else byId(next ? 'count' : 'empty').focus();
}

function move(step) {
  const all = open();
  const to = all[all.indexOf(current()) + step] ?? (current() ? null : all[0]);
  if (to) focusOn(to);
}

// chosen returns the comments that a key acts on: the selected ones, or else the focused one.
function chosen() {
  const all = picked();
  return all.length ? all : [current()].filter(Boolean);
}

function select(all, checked) {
  for (const { li } of all) li.querySelector('.pick input').checked = checked;
  draw();
  announce(count('selected', picked().length));
}

byId('queue').addEventListener('click', ({ target }) => {
  const button = target.closest('button');
  if (!button) return;
  const item = itemOf(button);
  if (button.matches('.approve')) decide([item], null);
  if (button.matches('.reject')) askReason([item]);
  if (button.matches('.reply')) askReply(item);
  if (button.matches('.undo')) undo([item]);
});
byId('queue').addEventListener('change', draw);
byId('select-all').addEventListener('click', () => select(open(), true));
byId('select-none').addEventListener('click', () => {
  select(open(), false);
  byId('count').focus();
});
byId('approve-all').addEventListener('click', () => decide(picked(), null));
byId('reject-all').addEventListener('click', () => askReason(picked()));
byId('keys').addEventListener('click', () => byId('help').showModal());

const actions = {
  j: () => move(1),
  k: () => move(-1),
  a: () => chosen().length && decide(chosen(), null),
  r: () => askReason(chosen()),
  x: () => current() && select([current()], !picked().includes(current())),
  u: () => batches.length && undo(batches.at(-1).items),
  '?': () => byId('help').showModal(),
};

// Single-key shortcuts disturb users of speech input, so they can be turned off.
const keysKey = 'talkback keys';
byId('use-keys').checked = ofBrowser.getItem(keysKey) !== 'off';
byId('use-keys').addEventListener('change', ({ target }) =>
  ofBrowser.setItem(keysKey, target.checked ? 'on' : 'off'),
);

addEventListener('keydown', (event) => {
  const { target, key, ctrlKey, altKey, metaKey } = event;
  const typing = target.matches('input:not([type=checkbox]), textarea');
  if (
    typing ||
    ctrlKey ||
    altKey ||
    metaKey ||
    byId('desk').hidden ||
    document.querySelector('dialog[open]')
  )
    return;
  if (!Object.hasOwn(actions, key) || !byId('use-keys').checked) return;
  // Holding a key down decides one comment only.
  if (event.repeat && key !== 'j' && key !== 'k') return;
  event.preventDefault();
  actions[key]();
});

load('');
