// What a reader has chosen, and its form in an address: ?page=3&rating=5&rating=4&language=de&order=oldest. The server reads
// and writes the same form, in the same order.

/** Which comments to show. */
export interface Choice {
  /** From 1. */
  readonly page: number;
  /** 1 to 5, the highest first; none is any. */
  readonly ratings: readonly number[];
  /** Language tags, sorted; none is any. */
  readonly languages: readonly string[];
  /** Traits that comments must have, some of traits, in their order. */
  readonly only: readonly string[];
  /** One of orders; "" for the newest comments first. */
  readonly order: Order;
  /** The first day in UTC, such as "2024-05-01", or "". */
  readonly from: string;
  /** The last day in UTC, inclusive, or "". */
  readonly to: string;
  /** A cursor, where pages have no numbers, or "". */
  readonly after: string;
  readonly before: string;
}

/** The first page without any filter. */
export const everything: Choice = {
  page: 1, ratings: [], languages: [], only: [], order: '', from: '', to: '', after: '', before: '',
};

/** The orders to choose from, as addresses and texts name them. */
export const orders = ['', 'oldest', 'highest', 'lowest', 'helpful'] as const;
export type Order = (typeof orders)[number];

/** The order of a name; the usual one for any other. */
export function orderOf(name: string | null): Order {
  return orders.find((order) => order === name) ?? '';
}

/** What comments can be restricted to, as addresses and texts name it. */
export const traits = ['verified', 'media'] as const;

/** How many languages a filter may have. */
const mostLanguages = 100;

const names = ['page', 'rating', 'language', 'only', 'order', 'from', 'to', 'after', 'before'];

/** Reads a query. What cannot be understood is left out. */
export function parseChoice(query: string): Choice {
  const given = new URLSearchParams(query);
  const page = given.get('page') ?? '';
  const after = cursor(given.get('after'));
  const before = after ? '' : cursor(given.get('before'));
  const [from, to] = days(given.get('from'), given.get('to'));
  return {
    page: /^[1-9]\d{0,8}$/.test(page) && !after && !before ? Number(page) : 1,
    ratings: unique(given.getAll('rating').filter((text) => /^[1-5]$/.test(text)).map(Number)).sort((a, b) => b - a),
    languages: unique(given.getAll('language').map(canonicalTag).filter(Boolean)).sort().slice(0, mostLanguages),
    only: traits.filter((trait) => given.getAll('only').includes(trait)),
    order: orderOf(given.get('order')),
    from, to, after, before,
  };
}

/** The query of a choice, without "?"; "" for the first page of everything. */
export function queryOf(choice: Choice): string {
  return new URLSearchParams(pairsOf(choice)).toString();
}

/** The names and values of a choice, such as a form has to send beside those it asks for itself. */
export function pairsOf(choice: Choice): [string, string][] {
  const pairs: [string, string][] = [
    ['page', choice.page > 1 ? String(choice.page) : ''],
    ...choice.ratings.map((rating): [string, string] => ['rating', String(rating)]),
    ...choice.languages.map((tag): [string, string] => ['language', tag]),
    ...choice.only.map((trait): [string, string] => ['only', trait]),
    ...(['order', 'from', 'to', 'after', 'before'] as const).map((name): [string, string] => [name, choice[name]]),
  ];
  return pairs.filter(([, value]) => value);
}

/** What a query has beside a choice, which is the host page's own; without "?". */
export function foreignQuery(query: string): string {
  const kept = [...new URLSearchParams(query)].filter(([name]) => !names.includes(name));
  return new URLSearchParams(kept).toString();
}

/** Whether the bare address shows it: the first page of everything. */
export function isFirst(choice: Choice): boolean {
  return queryOf(choice) === '';
}

/** Whether the list begins with the newest comments, so that one that is written now is its first. */
export function isNewest({ page, after, before, order, to }: Choice): boolean {
  return page === 1 && !after && !before && !order && !to;
}

/** Whether days are chosen. Languages are not counted by these. */
export function isDated({ from, to }: Choice): boolean {
  return !!(from || to);
}

/** Whether fewer than all comments are chosen. */
export function isFiltered(choice: Choice): boolean {
  return choice.ratings.length > 0 || choice.languages.length > 0 || choice.only.length > 0 || isDated(choice);
}

/** The first page of another choice. */
export function changed(choice: Choice, change: Partial<Choice> = {}): Choice {
  return { ...choice, page: 1, after: '', before: '', ...change };
}

/** A list with a value in it if it was not, and without if it was. */
export function toggled<T>(list: readonly T[], value: T): T[] {
  return list.includes(value) ? list.filter((other) => other !== value) : [...list, value];
}

function unique<T>(list: T[]): T[] {
  return [...new Set(list)];
}

/** The languages of three letters that a browser replaces by one of two, and the service does not, or by another one. */
const kept = /als|arb|ayr|azj|cls|cmn|cwd|ekk|esk|fat|fuc|gaz|gug|ike|jaw|khk|kmr|knc|kng|kpv|lvs|mol|npi|ojg|ory|pbu|pes|plt|quz|scc|scr|src|swh|twi|uzn|ydd|zsm|zyb/;

/**
 * The canonical form of a tag, also of one that is written with underscores as many programs do; "" if it is none. Of the
 * languages of three letters, both replace those that have two, such as deu by de. Browsers take no private tags.
 */
function canonicalTag(text: string): string {
  if (text.length > 35) return '';
  const tag = text.toLowerCase().replaceAll('_', '-');
  let [own] = tag.match(/^([a-z]{3}|x)\b|/)!;
  try {
    if (own[1] && !kept.test(own) && !Intl.getCanonicalLocales(own)[0]![2]) own = '';
    const other = own && (own[1] ? 'und' : 'und-x');
    return Intl.getCanonicalLocales(tag.replace(own, other))[0]!.replace(other, own);
  } catch {
    return '';
  }
}

/** The two days in order: an empty range is what nobody asks for. */
function days(from: string | null, to: string | null): [string, string] {
  const [first, last] = [day(from), day(to)];
  return first && last && last < first ? [last, first] : [first, last];
}

function day(text: string | null): string {
  if (!text || !/^\d{4}-\d\d-\d\d$/.test(text) || text < '1970' || text >= '9999') return '';
  return new Date(text).toJSON()?.startsWith(text) ? text : ''; // else there is no such day in its month, or month
}

function cursor(text: string | null): string {
  return text && /^[\w-]{1,64}$/.test(text) ? text : '';
}
