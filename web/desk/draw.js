// Renders comments and the decisions about them. Comments contain untrusted text, which becomes
// text nodes only.

const byId = (id) => document.getElementById(id);
const page = document.documentElement;
const words = JSON.parse(document.body.dataset.texts);
const locale = page.lang === 'en' ? 'en-GB' : page.lang;
const times = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'short' });
const wordsOf = new Intl.Segmenter(locale, { granularity: 'word' });
const languages = new Intl.DisplayNames(locale, { type: 'language' });

const say = (key, values = {}) =>
  words[key].replace(/\{(\w+)\}/g, (hole, name) => values[name] ?? hole);
const count = (key, n) =>
  say(`${key}.${n === 1 ? 'one' : 'other'}`, { n: n.toLocaleString(locale) });

let announced = 0;

// announce speaks a text through a screen reader, even if it is the same as before.
function announce(text) {
  byId('live').textContent = '';
  cancelAnimationFrame(announced);
  announced = requestAnimationFrame(() => (byId('live').textContent = text));
}

function waitingText() {
  return waiting === Infinity ? say('waiting.most') : count('waiting', Math.max(0, waiting));
}

// draw renders everything but the comments.
function draw() {
  const chosen = picked().length;
  const filtered =
    document.querySelector('#filter :checked') !== null ||
    byId('languages').value.trim() !== '' ||
    byId('product').value.trim() !== '';
  byId('count').textContent = reading
    ? say('loading')
    : unread && items.length === 0
      ? ''
      : waitingText();
  byId('filter').classList.toggle('on', filtered);
  byId('select-all').hidden = open().length < 2;
  byId('empty').hidden = open().length > 0 || next !== '' || unread !== null;
  byId('empty').textContent = say(
    items.length > 0 ? 'empty.done' : filtered ? 'empty.filter' : 'empty',
  );
  byId('more').hidden = next === '';
  byId('selection').hidden = chosen === 0;
  byId('selection').querySelector('strong').textContent = count('selected', chosen);
  drawTrouble();
}

function drawTrouble() {
  const unsaved = failed().length;
  const cause = unread?.problem ?? problem;
  byId('trouble').hidden = unsaved === 0 && !unread;
  byId('trouble').querySelector('span').textContent = byId('trouble').hidden
    ? ''
    : [
        cause && cause !== 'unauthenticated' ? why(cause) : '',
        unsaved ? count('trouble', unsaved) : '',
      ]
        .join(' ')
        .trim();
}

// set changes the state of a comment and renders it: open, or as a line with the decision.
function set(item, state, verdict = item.verdict) {
  Object.assign(item, { state, verdict });
  const at = (selector) => item.li.querySelector(selector);
  const { title, text } = item.queued.comment;
  at('article').dataset.state = state;
  at('.whole').hidden = state !== 'open';
  at('.outcome').hidden = state === 'open';
  if (state === 'open') return;
  at('.pick input').checked = false;
  at('.outcome strong').textContent = verdict.reason
    ? say('done.rejected', { reason: say(`because.${verdict.reason}`) })
    : say('done.approved');
  at('.outcome q').textContent = excerpt(title || text);
  at('.state').textContent = say(`state.${state}`);
  at('.undo').hidden = state !== 'decided' && state !== 'failed';
}

// excerpt returns the beginning of a text, without splitting a surrogate pair.
const excerpt = (text, length = 60) => [...text].slice(0, length).join('');

function drawItem(item) {
  const { comment, reasons, since } = item.queued;
  const { heldEdit } = comment;
  const now = heldEdit ?? comment;
  const at = (selector) => item.li.querySelector(selector);
  const put = (selector, text) => (at(selector).textContent = text);
  at('article').ariaLabel =
    `${say('stars', { n: now.rating })}, ${excerpt(now.title || now.text) || say('nothing')}`;
  putStars(at('.stars'), now.rating);
  put('.product', comment.product.id);
  at('.product').href = addressOf(comment.product.id);
  // Leaving this page would send decisions that can still be undone.
  at('.product').target = '_blank';
  put('.language', languageName(now.language));
  put('.status', say(`status.${comment.status}`));
  putTime(at('.since time'), since);
  putTime(at('.written time'), comment.createdAt);
  at('.reasons').replaceChildren(
    ...reasons.map((reason) => element('li', say(`reason.${reason}`))),
  );
  put('.name', comment.author.name);
  put('.author code', comment.author.customerId ?? say('author.imported'));
  const was = [
    heldEdit?.rating !== comment.rating && say('stars', { n: comment.rating }),
    heldEdit?.language !== comment.language && languageName(comment.language),
  ].filter(Boolean).join(', ');
  at('.edit').hidden = !heldEdit;
  at('.was').hidden = !heldEdit || !was;
  put('.was', say('was', { was }));
  at('.none').hidden = now.text !== '' || comment.text !== '';
  at('.reply').hidden = !mayReply;
  put('.reply', say(comment.reply ? 'reply.edit' : 'reply'));
  // Nobody saw it, so nobody could report it.
  at('.reports').hidden = comment.status === 'PENDING' && comment.version === 1;
  at('.others').hidden = !comment.author.customerId;
  at('.answer').hidden = !comment.reply;
  put('.answer .hint', comment.reply ? say('reply.by', { name: comment.reply.name }) : '');
  put('.answer .said', comment.reply?.text ?? '');
  for (const [selector, field] of [['.title', 'title'], ['.text', 'text']]) {
    const [before, after] = [comment[field] ?? '', now[field] ?? ''];
    at(selector).lang = now.language;
    at(selector).hidden = !before && !after;
    at(selector).replaceChildren(...changed(before, after));
  }
  at('.verified').hidden = !comment.isVerifiedPurchase;
  const pictures = changedMedia(comment.media, now.media);
  at('.media').hidden = pictures.length === 0;
  at('.media').replaceChildren(...pictures);
}

// letScroll makes a long text focusable, so that the keyboard can scroll it in every browser.
function letScroll(li) {
  const text = li.querySelector('.text');
  if (text.scrollHeight > text.clientHeight) text.tabIndex = 0;
}

// changedMedia returns list items for pictures and videos, and marks which were removed or added.
function changedMedia(before, after) {
  const among = (list, { url, alt }) =>
    list.some((other) => other.url === url && other.alt === alt);
  const removed = before.filter((media) => !among(after, media));
  return [
    ...after.map((media, i) => mediaOf(media, i, among(before, media) ? '' : 'added')),
    ...removed.map((media, i) => mediaOf(media, i, 'removed')),
  ];
}

// mediaOf returns a thumbnail, or an icon for a video, with a link to the file and its alt text.
function mediaOf({ url, kind, alt }, at, change) {
  const [made, isVideo] = [document.createElement('a'), kind === 'VIDEO'];
  const name = alt || say(isVideo ? 'media.video' : 'media.picture', { n: at + 1 });
  made.href = url;
  made.target = '_blank';
  made.rel = 'noreferrer';
  if (isVideo) {
    made.className = 'video';
    made.ariaLabel = name;
  } else {
    const picture = element('img');
    Object.assign(picture, { loading: 'lazy', width: 96, height: 96, alt: name, src: url });
    made.append(picture);
  }
  const words = element('span', change && `${say(change)} `, element('bdi', alt));
  const item = element('li', made, words);
  item.className = change;
  return item;
}

const addressOf = (id) =>
  /^\.{1,2}$/.test(id) ? `/products/?id=${id}` : `/products/${encodeURIComponent(id)}`;

function languageName(tag) {
  if (tag === 'und') return say('language.unknown');
  try {
    return languages.of(tag);
  } catch {
    return tag; // it has an extension, and so no name
  }
}

// why returns the text for a problem of a request.
const why = (problem) => say(problem === 'unauthenticated' ? 'signin.refused' : `error.${problem}`);

// faultOf returns the text for an error about an input, or "". It uses the server's message if the
// page has no text for the field.
const faultOf = (fault) =>
  fault ? (words[`fault.${fault.path.at(-1)}.${fault.code}`] ?? fault.message) : '';

function putStars(at, rating) {
  at.textContent = '★'.repeat(rating) + '☆'.repeat(5 - rating);
  at.ariaLabel = say('stars', { n: rating });
}

function putTime(at, time) {
  at.dateTime = time;
  at.textContent = times.format(new Date(time));
}

function element(name, ...inside) {
  const made = document.createElement(name);
  made.append(...inside);
  return made;
}

// changed returns a text as nodes that mark what was removed and added.
function changed(before, after) {
  if (before === after) return [after];
  const split = (text) => [...wordsOf.segment(text)].map(({ segment }) => segment);
  return differences(split(before), split(after)).map(([kind, text]) => {
    if (kind === 'same') return text;
    // <bdi>, so that it does not set the direction of the whole text
    const name = element('bdi', `${say(kind)} `);
    name.className = 'hidden';
    name.lang = page.lang;
    return element(kind === 'added' ? 'ins' : 'del', name, text);
  });
}

function decisionLine({ decidedAt, by, from, to, version, reason, note }) {
  const [was, is] = [say(`status.${from}`), say(`status.${to}`)];
  const line = element(
    'li',
    say(from === to ? 'history.kept' : 'history.entry', {
      time: times.format(new Date(decidedAt)),
      from: was,
      to: is,
      version,
      by: by ? say('history.by', { id: by }) : say('history.token'),
    }),
  );
  if (reason) line.append(` · ${say(`because.${reason}`)}`);
  return quoting(line, note);
}

function reportLine({ reason, note, createdAt }) {
  return quoting(
    element('li', `${times.format(new Date(createdAt))}: ${say(`because.${reason}`)}`),
    note,
  );
}

// otherLines returns the number of an author's comments, and a line for each of the latest others.
function otherLines({ total, latest }, comment) {
  const others = latest.filter(({ id }) => id !== comment.id).map(otherLine);
  if (others.length) {
    others.unshift(element('li', total < 100 ? count('others.count', total) : say('others.most')));
  }
  return others;
}

function otherLine({ status, rating, language, title, text, createdAt, product }) {
  const stars = element('span');
  stars.className = 'stars';
  stars.role = 'img';
  putStars(stars, rating);
  const link = element('a', product.id);
  link.href = addressOf(product.id);
  link.dir = 'auto';
  const state = element('span', say(`status.${status}`));
  state.className = 'status';
  const line = element('li', stars, ' ', link, ' ', state, ` ${times.format(new Date(createdAt))}`);
  return quoting(line, excerpt([title, text].filter(Boolean).join(': '), 160), language);
}

// quoting appends somebody's text to a line, if there is one.
function quoting(line, text, language = '') {
  if (!text) return line;
  const quotation = element('q', text);
  quotation.dir = 'auto';
  quotation.lang = language;
  line.append(' ', quotation);
  return line;
}
