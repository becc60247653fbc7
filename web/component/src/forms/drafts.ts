// Drafts: text that is not sent yet. The tab's storage keeps it across reloads, errors and pages.
import type { Comment, Viewer } from '../answer';
import type { Desk } from '../desk';
import { languageOfText } from './guess';

export interface Draft {
  /** 1 to 5, or 0 for none yet. */
  readonly rating: number;
  /** A language tag, or "" to use `tag`. */
  readonly language: string;
  readonly tag: string;
  readonly title: string;
  readonly text: string;
  readonly name: string;
  /** The idempotency key. All attempts share it, so the comment is added once. */
  readonly key: string;
  /** How the language was set: guessed from the text, or chosen by the author. */
  readonly tagged?: 'guessed' | 'chosen';
  /** The customer who typed the draft. Absent for guests. */
  readonly by?: string;
  /** The version of the comment that is edited; 0 for a new comment. */
  readonly version: number;
}

/** The part of a comment that its author types. */
type Content = Pick<Comment, 'rating' | 'language' | 'title' | 'text' | 'version'> & {
  readonly author: { readonly name: string };
};

const blank = { rating: 0, language: '', title: '', text: '', author: { name: '' }, version: 0 };

/** Returns an empty draft. */
export function newDraft({ language }: Desk): Draft {
  return draftOf({ ...blank, language, author: guest() });
}

/** Returns a draft with the content of a comment. */
export function draftOf({ rating, language, title, text, author, version }: Content): Draft {
  return {
    rating,
    language,
    tag: '',
    title: title ?? '',
    text,
    name: author.name,
    key: unique(),
    version,
  };
}

/** Reports whether a comment has the content of a draft. */
export function says(comment: Comment, draft: Draft): boolean {
  const { rating, title, text } = draftOf(comment);
  return (
    rating === draft.rating &&
    title === draft.title &&
    text === draft.text &&
    comment.language === languageOf(draft)
  );
}

/** Reports whether nothing was typed. */
export function isBlank({ rating, title, text, name }: Draft): boolean {
  return !rating && !title && !text && name === guest().name;
}

/**
 * Returns a draft after a change. The language of a new comment follows its text until the author
 * chooses one.
 */
export function typedInto(draft: Draft, change: Partial<Draft>): Draft {
  const next = { ...draft, ...change };
  if ('language' in change) return { ...next, tagged: 'chosen' };
  if (next.version > 0 || next.tagged === 'chosen') return next;
  const guess = languageOfText(`${next.title} ${next.text}`);
  return guess && guess !== next.language.split('-')[0]
    ? { ...next, language: guess, tagged: 'guessed' }
    : next;
}

export function languageOf(draft: Draft): string {
  return draft.language || draft.tag.trim();
}

/** Returns the storage key of a draft: of the new comment, or of the edit of comment `id`. */
export function placeOf(desk: Desk, id = ''): string {
  return `talkback ${desk.client.service} ${desk.product} ${id}`;
}

// Values that the storage refuses, as in some private windows. They last until the page is left.
const memory = new Map<string, string>();

export function load(place: string): Draft | null {
  return readLike<Draft>(() => sessionStorage, place, draftOf(blank));
}

/**
 * Returns a draft, unless it was typed by another customer or by one who signed out. An expired
 * token does not hide it.
 */
export function draftFor(viewer: Viewer | null, place: string): Draft | null {
  const draft = load(place);
  return draft?.by &&
    viewer?.customerId !== draft.by &&
    viewer?.cannotWriteReason !== 'TOKEN_REFUSED'
    ? null
    : draft;
}

/** Saves a draft; null deletes it. */
export function save(place: string, draft: Draft | null): void {
  write(() => sessionStorage, place, draft);
}

/**
 * Rescues the draft of an edit whose comment was deleted: it becomes the draft of a new comment. A
 * draft in an open form stays there, and so does one that is being sent.
 */
export function adopt(desk: Desk, isInUse: (place: string) => boolean): void {
  const place = placeOf(desk);
  if (load(place)) return;
  // Otherwise it is a key of the product "id more".
  const isHere = (other: string) =>
    other.startsWith(place) && !other.slice(place.length).includes(' ');
  const left = [...memory.keys(), ...stored()].find(
    (other) => isHere(other) && load(other)?.version === 0 && !isInUse(other),
  );
  if (!left) return;
  save(place, load(left));
  save(left, null);
}

function stored(): string[] {
  try {
    return Object.keys(sessionStorage);
  } catch {
    return [];
  }
}

/** Returns the guest of this browser: a customer id made up where nobody signs in, and a name. */
export function guest(): { readonly id: string; readonly name: string } {
  return kept('talkback guest', { id: '', name: '' });
}

/** Reports whether the viewer wrote a comment. */
export function isOwn({ author }: Comment, viewer: Viewer): boolean {
  return author.customerId === (viewer.customerId ?? guest().id);
}

/** Saves the name of this browser's guest and returns the guest's id. */
export function enrol(name: string): string {
  const id = guest().id || `guest-${unique()}`;
  keep('talkback guest', { id, name });
  return id;
}

/** Returns a value of the browser's storage, or `model` if there is none. */
export function kept<T extends object>(key: string, model: T): T {
  return readLike(() => localStorage, key, model) ?? model;
}

/** Saves a value in the browser's storage; null deletes it. */
export function keep(key: string, value: object | null): void {
  write(() => localStorage, key, value);
}

/**
 * Returns a stored value if it has every field of `model`. Other scripts of the origin write to the
 * same storage.
 */
function readLike<T extends object>(storage: () => Storage, key: string, model: T): T | null {
  const kept = Object(read(storage, key)) as Record<string, unknown>;
  return Object.entries(model).every(([name, value]) => typeof kept[name] === typeof value)
    ? (kept as T)
    : null;
}

function read(storage: () => Storage, key: string): unknown {
  try {
    return JSON.parse(memory.get(key) ?? storage().getItem(key) ?? 'null');
  } catch {
    return null;
  }
}

function write(storage: () => Storage, key: string, value: unknown): void {
  memory.delete(key);
  try {
    if (value) storage().setItem(key, JSON.stringify(value));
    else storage().removeItem(key);
  } catch {
    if (value) memory.set(key, JSON.stringify(value));
  }
}

/** Returns a random id. crypto.randomUUID exists on secure origins only. */
export function unique(): string {
  return crypto.getRandomValues(new Uint32Array(4)).join('-');
}
