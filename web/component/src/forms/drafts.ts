// What is typed and not written yet. The tab's storage keeps it, so that a reload, an error or another page loses none of it.
import type { Comment, Viewer } from '../answer';
import type { Desk } from '../desk';
import { languageOfText } from './guess';

export interface Draft {
  /** 1 to 5, or 0 if none is chosen. */
  readonly rating: number;
  /** A language tag, or "" for the one in `tag`. */
  readonly language: string;
  readonly tag: string;
  readonly title: string;
  readonly text: string;
  readonly name: string;
  /** The same for each attempt to add the comment, so that it is added once. */
  readonly key: string;
  /** Whether the language was guessed from the text, or chosen by who writes. */
  readonly tagged?: 'guessed' | 'chosen';
  /** The customer who typed it; none where nobody signs in. */
  readonly by?: string;
  /** The version that is edited; 0 if this becomes a new comment. */
  readonly version: number;
}

const blank = { rating: 0, language: '', title: '', text: '', author: { name: '' }, version: 0 };

/** A blank one. */
export function newDraft({ language }: Desk): Draft {
  return draftOf({ ...blank, language, author: guest() });
}

/** One that begins with what a comment says. */
export function draftOf({ rating, language, title, text, author, version }: Pick<Comment, 'rating' | 'language' | 'title' | 'text' | 'version'> & { author: { name: string } }): Draft {
  return { rating, language, tag: '', title: title ?? '', text, name: author.name, key: unique(), version };
}

/** Whether a comment says what was typed. */
export function says(comment: Comment, draft: Draft): boolean {
  const { rating, title, text } = draftOf(comment);
  return rating === draft.rating && title === draft.title && text === draft.text && comment.language === languageOf(draft);
}

/** Whether nothing was typed into a blank one. */
export function isBlank({ rating, title, text, name }: Draft): boolean {
  return !rating && !title && !text && name === guest().name;
}

/** A draft after a change. Until its writer chooses a language, that of a new one follows the text. */
export function typedInto(draft: Draft, change: Partial<Draft>): Draft {
  const next = { ...draft, ...change };
  if ('language' in change) return { ...next, tagged: 'chosen' };
  if (next.version > 0 || next.tagged === 'chosen') return next;
  const guess = languageOfText(`${next.title} ${next.text}`);
  return guess && guess !== next.language.split('-')[0] ? { ...next, language: guess, tagged: 'guessed' } : next;
}

export function languageOf(draft: Draft): string {
  return draft.language || draft.tag.trim();
}

/** Where the draft of a new comment is kept, or that of an edit if there is an id. */
export function placeOf(desk: Desk, id = ''): string {
  return `talkback ${desk.client.service} ${desk.product} ${id}`;
}

// What storage refuses, as it does in some private windows, is kept for as long as the page lives.
const memory = new Map<string, string>();

export function load(place: string): Draft | null {
  return readLike<Draft>(() => sessionStorage, place, draftOf(blank));
}

/** The draft of a place, unless another customer typed it, or one who signed out. It stays in sight when a token expires. */
export function draftFor(viewer: Viewer | null, place: string): Draft | null {
  const draft = load(place);
  return draft?.by && viewer?.customerId !== draft.by && viewer?.cannotWriteReason !== 'TOKEN_REFUSED' ? null : draft;
}

/** Keeps a draft, or forgets it. */
export function save(place: string, draft: Draft | null): void {
  write(() => sessionStorage, place, draft);
}

/**
 * Finds the text of a comment that was deleted while it was edited, and moves it to the place of a new comment. One that stands in
 * an open form stays there, and so does one that is on its way.
 */
export function adopt(desk: Desk, isInUse: (place: string) => boolean): void {
  const place = placeOf(desk);
  if (load(place)) return;
  const isHere = (other: string) => other.startsWith(place) && !other.slice(place.length).includes(' '); // else of a product "id more"
  const left = [...memory.keys(), ...stored()].find((other) => isHere(other) && load(other)?.version === 0 && !isInUse(other));
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

/** Who writes where nobody signs in: a customer that this browser made up. */
export function guest(): { readonly id: string; readonly name: string } {
  return kept('talkback guest', { id: '', name: '' });
}

/** Whether a comment is of who asks. */
export function isOwn({ author }: Comment, viewer: Viewer): boolean {
  return author.customerId === (viewer.customerId ?? guest().id);
}

/** The id of the guest who writes under a name. */
export function enrol(name: string): string {
  const id = guest().id || `guest-${unique()}`;
  keep('talkback guest', { id, name });
  return id;
}

/** What this browser keeps, or a model of it if there is nothing. */
export function kept<T extends object>(key: string, model: T): T {
  return readLike(() => localStorage, key, model) ?? model;
}

/** Has this browser keep something, or forget it. */
export function keep(key: string, value: object | null): void {
  write(() => localStorage, key, value);
}

/** What is kept, if it has every field of a model: other scripts of the origin write to the same storage. */
function readLike<T extends object>(storage: () => Storage, key: string, model: T): T | null {
  const kept = Object(read(storage, key)) as Record<string, unknown>;
  return Object.entries(model).every(([name, value]) => typeof kept[name] === typeof value) ? (kept as T) : null;
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

/** As random as a UUID, which a browser makes on a secure origin alone. */
export function unique(): string {
  return crypto.getRandomValues(new Uint32Array(4)).join('-');
}
