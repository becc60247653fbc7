// The page for moderators: signing in, the queue, decisions that can be undone for some seconds, and
// what becomes of them.

// How long a decision can be undone before it is sent, in milliseconds.
const undoTime = 10_000;
// The most decisions of one request, and about the most bytes that they have.
const mostDecisions = 50;
const mostBytes = 12_000;
// The most bytes of decisions that are sent when the page is left. Browsers let requests of 64 KiB
// outlive a page: https://fetch.spec.whatwg.org/#http-network-or-cache-fetch
const mostAtEnd = 48_000;

// A comment in the list is {queued, li, state, verdict}. Its state is open, decided (and can be undone),
// sending, saved, failed or gone.
let items = [];
// Decisions that are not sent yet: {items, timer}, the latest at the end.
let batches = [];
const requests = new Set(); // promises of decisions that are under way
let waiting = 0; // comments, as far as known
let next = ''; // the cursor for more; "" at the end
let unread = null; // what to load again after an error: {after, problem}
let problem = ''; // why decisions are not saved
let loads = 0;
let reading = false; // what is asked for is not there yet
let mayReply = false; // in the shop's name
let chosenTags = []; // languages of the filter, as it was last understood

// ---- Signing in ----

function signIn(message) {
  byId('desk').hidden = byId('sign-out').hidden = true;
  byId('sign-in').hidden = false;
  byId('sign-in').classList.toggle('off', message === 'off');
  byId('sign-in-error').textContent = message && say(message);
  byId('token').focus();
}

// refuse says why there is no queue, and asks for a token if one would help.
function refuse(viewer, problem) {
  if (viewer?.cannotWriteReason === 'WRITING_OFF' && !token) return signIn('off');
  if (problem === 'unauthenticated') return signIn(token && 'signin.refused');
  if (problem === 'forbidden') return signIn(token && 'signin.other');
  unread = { after: next, problem };
  byId('desk').hidden = false;
  byId('sign-in').hidden = true;
  draw();
}

// Whose token the tab has: a customer's id, "" for a token that names nobody. Decisions and texts are theirs alone.
const signerKey = 'talkback signer';
const nameOf = (viewer) => viewer.customerId ?? '';
let asking = ''; // about the token of the latest attempt, while the answer is under way

byId('sign-in').addEventListener('submit', async (event) => {
  event.preventDefault();
  const field = byId('token');
  const given = field.value.trim();
  if (!/^[!-~]+$/.test(given)) return signIn(given ? 'signin.refused' : 'signin.empty'); // no header holds others
  if (given === asking) return; // Enter was pressed again, or is held down
  asking = given;
  byId('sign-in-error').textContent = ''; // it was about another attempt
  const { data, problem } = await ask(viewerQuery, {}, false, given); // before anything is sent with it
  if (given !== asking) return;
  asking = '';
  if (!data && problem !== 'unauthenticated') return signIn(`error.${problem || 'unavailable'}`); // the token stays for another attempt
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
    if (!await settle() && !known) return; // the moderator reads why; signing out again drops them
  } while (batches.length > 0); // decided meanwhile
  token = '';
  forget();
  signIn('');
});

// forget drops what a moderator decided and wrote, which nobody else sends in their name. What else the tab keeps is not the
// page's own: a shop's cart, or a comment that is typed at a product.
function forget() {
  batches.flatMap(take);
  loads++; // what is under way is not shown any more
  for (const key of Object.keys(ofTab)) if (key === tokenKey || key === signerKey || key.startsWith(replyKey)) ofTab.removeItem(key);
  items = [];
  unread = null;
  byId('queue').replaceChildren();
  draw();
}

// ---- The queue ----

// refresh reads the queue from its start. What was decided is sent first, so it does not come again.
// What could not be decided stays in view.
async function refresh() {
  if (await settle()) await load('');
}

async function load(after) {
  const mine = ++loads;
  let found = [];
  announce(say('loading'));
  unread = null;
  next = after;
  do { // with a filter, a page may be empty while there are more
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

// show puts comments below the others, or in their place if they are the first ones. Those that were decided while
// these were loaded stay, and a dialog that is open goes on with its comments. So does a moderator who went on to one.
function show(found, after) {
  const at = current();
  const before = after ? [] : items;
  if (!after) items = items.filter(isUnsent);
  const known = new Set(items.filter((item) => item.state === 'open' || isUnsent(item)).map(({ queued }) => queued.comment.id));
  const added = found.filter(({ comment }) => !known.has(comment.id)).map((queued) => {
    const li = byId('item').content.cloneNode(true).firstElementChild;
    const same = before.find(({ queued: { comment } }) => comment.id === queued.comment.id);
    return Object.assign(same ?? {}, { queued, li, state: 'open', verdict: null });
  });
  items.push(...added);
  for (const item of added) {
    drawItem(item);
    set(item, 'open');
  }
  for (const li of [...byId('queue').children]) if (!items.some((item) => item.li === li)) li.remove();
  byId('queue').append(...added.map(({ li }) => li));
  for (const { li } of added) letScroll(li);
  draw();
  announce(added.length ? waitingText() : byId('empty').textContent);
  if (current() || byId('filter').contains(document.activeElement)) return; // somebody goes on
  if (at && open().includes(at)) focusOn(at);
  else if (added.length) focusOn(added[0]);
  else byId('empty').focus();
}

// wanted is the filter as the API has it. While a language is no tag, the languages are those before.
function wanted() {
  const reasons = [...document.querySelectorAll('#filter :checked')].map(({ value }) => value);
  try {
    chosenTags = tags();
  } catch {} // which the field says
  return { reasons, languages: chosenTags, productId: byId('product').value.trim() || null };
}

// tags are the languages of the filter. It throws a RangeError if one is no language tag. The service makes their canonical
// form: that of browsers is another one of some, such as zh for cmn, and they know no private tags.
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

// A page that the browser kept shows what was there when it was left.
addEventListener('pageshow', ({ persisted }) => persisted && location.reload());

// ---- Decisions ----

const open = () => items.filter(({ state }) => state === 'open');
const failed = () => items.filter(({ state }) => state === 'failed');
const sending = () => items.filter(({ state }) => state === 'sending');
const picked = () => open().filter(({ li }) => li.querySelector('.pick input').checked);

// decide takes a decision about comments, and sends it when it can no longer be undone.
function decide(decided, reason, note = '') {
  for (const item of decided) item.note = note; // for another attempt
  const focused = decided.some(({ li }) => li.contains(document.activeElement)) || decided.length > 1;
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

// undo takes back some decisions of a batch that is not sent yet, or those that could not be sent.
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

// take ends the time in which a batch can be undone, and returns its comments.
function take(batch) {
  clearTimeout(batch.timer);
  batches = batches.filter((other) => other !== batch);
  return batch.items;
}

// settle sends all that was decided, and reports whether there is nothing more to do about it, nor about what was sent
// before.
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

// partsOf divides comments that were decided about into those of one request each.
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

// decisionsOf returns what was decided about comments, as the API has it.
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

// judge takes the result of one decision.
async function judge(item, wrong) {
  const { queued, verdict } = item;
  if (!wrong && verdict.reason && queued.comment.heldEdit && queued.reasons.includes('REPORTED')) {
    queued.comment.heldEdit = null; // only the edit is rejected
    queued.reasons = ['REPORTED'];
    item.note = '';
    return reopen(item, say('edit.rejected'));
  }
  if (!wrong) return set(item, 'saved');
  if (wrong.code === 'CONFLICT') return renew(item);
  if (wrong.code === 'NOT_FOUND') return set(item, 'gone');
  reopen(item, faultOf(wrong));
}

// renew shows a comment as it is now, after it was changed before the decision, if it still waits.
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
  if (status === 'APPROVED' && !heldEdit) item.queued.reasons = ['REPORTED']; // others were about the edit
  reopen(item, say('conflict'));
}

function reopen(item, notice) {
  waiting++;
  set(item, 'open', null);
  drawItem(item);
  for (const details of item.li.querySelectorAll('.record')) details.open = false; // they show what was before
  notify(item, notice);
}

// notify puts a notice above a comment; "" removes it.
function notify(item, notice) {
  const at = item.li.querySelector('.notice');
  at.textContent = notice;
  at.hidden = !notice;
  announce(notice);
}

byId('retry').addEventListener('click', async () => {
  if (await settle() && unread) await load(unread.after);
});

// What can still be undone is sent when the page is left, since nobody can undo it any more. What is under way is sent
// again, as a browser ends the requests of a page that is gone. Of more than a browser sends then, it is sent while the
// browser asks whether to leave.
addEventListener('pagehide', () => send([...sending(), ...batches.flatMap(take)], true));
addEventListener('beforeunload', (event) => {
  const tooMuch = bytesOf([...sending(), ...batches.flatMap(({ items }) => items)]) > mostAtEnd;
  if (tooMuch) send(batches.flatMap(take));
  if (tooMuch || failed().length > 0) event.preventDefault();
});

// ---- History, reports, and what else the author wrote ----

// What is read once a moderator opens it, by the name of its element. Lines are empty for nothing.
const records = {
  history: { query: auditQuery, variables: ({ id }) => ({ id }), lines: ({ audit }) => audit.map(decisionLine) },
  reports: { query: reportsQuery, variables: ({ id }) => ({ id }), lines: ({ reports }) => reports.map(reportLine) },
  others: {
    query: othersQuery,
    variables: ({ author }) => ({ customer: author.customerId }),
    lines: ({ commentsBy }, comment) => otherLines(commentsBy, comment),
  },
};

byId('queue').addEventListener('toggle', ({ target }) => target.matches('.record[open]') && showRecord(target), true);

async function showRecord(details) {
  const { comment } = itemOf(details).queued;
  const list = details.querySelector('ul');
  const { query, variables, lines } = records[details.dataset.record];
  list.replaceChildren(element('li', say('record.loading')));
  const { data, problem } = await ask(query, variables(comment));
  if (!data?.moderation) return list.replaceChildren(element('li', why(problem)));
  const found = lines(data.moderation, comment);
  list.replaceChildren(...(found.length ? found : [element('li', say(`${details.dataset.record}.none`))]));
}

// ---- Rejecting ----

let rejected = []; // comments that the dialog asks about

function askReason(about) {
  if (about.length === 0) return;
  rejected = about;
  const dialog = byId('reject');
  dialog.querySelector('form').reset();
  byId('note').value = about.length === 1 ? about[0].note ?? '' : '';
  dialog.returnValue = '';
  byId('reject-error').textContent = '';
  const edits = about.filter(({ queued: { comment } }) => comment.heldEdit).length;
  byId('reject-hint').textContent = [edits < about.length && say('reject.hint'), edits && say('reject.edit')].filter(Boolean).join(' ');
  byId('reject-title').textContent = about.length === 1 ? say('reject.title') : say('reject.several', { n: about.length });
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
  target.returnValue = ''; // the event of an earlier Escape may be late, and come with this one's
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

// Where the tab keeps a reply until it is saved or cancelled.
const replyKey = 'talkback reply ';
const draftKey = ({ queued: { comment } }) => replyKey + comment.id;

function askReply(item) {
  replying = item;
  byId('reply-error').textContent = byId('reply-done').textContent = '';
  byId('reply-delete').hidden = !item.queued.comment.reply;
  byId('reply-text').value = ofTab.getItem(draftKey(item)) ?? item.queued.comment.reply?.text ?? '';
  byId('reply').showModal();
}

byId('reply-text').addEventListener('input', ({ target }) => ofTab.setItem(draftKey(replying), target.value));

byId('reply').addEventListener('submit', async (event) => {
  event.preventDefault();
  const item = replying;
  const { comment } = item.queued;
  const text = byId('reply-text').value;
  const { data, problem } = await ask(replyMutation, { input: { id: comment.id, version: comment.reply?.version ?? null, text } });
  const goesOn = await takeReply(item, data?.replyToComment, problem);
  if (!data?.replyToComment?.comment) return;
  if (ofTab.getItem(draftKey(item)) === text) ofTab.removeItem(draftKey(item));
  if (!goesOn || byId('reply-text').value !== text) return; // more was typed meanwhile
  byId('reply').close();
  announce(say('reply.saved'));
});

// A deleted reply stays in the dialog, so that it can be saved again.
byId('reply-delete').addEventListener('click', async () => {
  const item = replying;
  const { comment } = item.queued;
  const { data, problem } = await ask(deleteReplyMutation, { input: { id: comment.id, version: comment.reply.version } });
  if (!await takeReply(item, data?.deleteReply, problem)) return;
  byId('reply-done').textContent = say('reply.deleted');
  byId('reply-text').focus();
});

// takeReply shows the reply that a comment has after a change, or why it was not changed. If another change came first, it
// reads the reply, so that another attempt is about that. It reports whether the dialog goes on: it may be about another
// comment by now.
async function takeReply(item, payload, problem) {
  const late = /CONFLICT|NOT_FOUND/.test(payload?.userErrors[0]?.code);
  const now = late ? (await ask(commentQuery, { id: item.queued.comment.id })).data : payload;
  if (now?.comment) {
    item.queued.comment.reply = now.comment.reply;
    drawItem(item);
  }
  const isGone = now?.comment && !now.comment.reply;
  const wrong = late && isGone ? say('fault.id.NOT_FOUND') : payload ? faultOf(payload.userErrors[0]) : why(problem);
  const goesOn = item === replying && byId('reply').open;
  notify(item, goesOn ? '' : wrong);
  if (!goesOn) return false;
  const { reply } = item.queued.comment;
  byId('reply-done').textContent = late && now?.comment?.reply ? say('reply.now', { text: reply.text }) : '';
  byId('reply-delete').hidden = !reply;
  byId('reply-error').textContent = wrong;
  if (problem === 'unauthenticated') {
    byId('reply').close();
    signIn('signin.again');
  }
  return !!payload?.comment;
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

// moveOn focuses the next comment to decide after a place in the list, else one before it.
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

// chosen are the comments that a key is about: those that are selected, else the one with the focus.
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

// Single keys disturb those who speak to their computer, so they can be turned off.
const keysKey = 'talkback keys';
byId('use-keys').checked = ofBrowser.getItem(keysKey) !== 'off';
byId('use-keys').addEventListener('change', ({ target }) => ofBrowser.setItem(keysKey, target.checked ? 'on' : 'off'));

addEventListener('keydown', (event) => {
  const { target, key, ctrlKey, altKey, metaKey } = event;
  const typing = target.matches('input:not([type=checkbox]), textarea');
  if (typing || ctrlKey || altKey || metaKey || byId('desk').hidden || document.querySelector('dialog[open]')) return;
  if (!Object.hasOwn(actions, key) || !byId('use-keys').checked) return;
  if (event.repeat && key !== 'j' && key !== 'k') return; // held down, it decides about one comment alone
  event.preventDefault();
  actions[key]();
});

load('');
