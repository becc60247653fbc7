// The reader's choice of comments and its form in an address, such as
// ?page=3&rating=5&rating=4&language=de&order=oldest. The server reads and writes the same form, in
// the same order.

/** Which comments to show. */
export interface Choice {
  /** Starts at 1. */
  readonly page: number;
  /** 1 to 5, the highest first. Empty for all ratings. */
  readonly ratings: readonly number[];
  /** Language tags, sorted. Empty for all languages. */
  readonly languages: readonly string[];
  /** The traits that comments must have: a subset of `traits`, in the same order. */
  readonly only: readonly string[];
  /** One of orders; "" for the newest comments first. */
  readonly order: Order;
  /** The first day in UTC, such as "2024-05-01", or "". */
  readonly from: string;
  /** The last day in UTC, inclusive, or "". */
  readonly to: string;
  /** A cursor, used where pages have no numbers, or "". */
  readonly after: string;
  readonly before: string;
}

/** The first page without any filter. */
export const everything: Choice = {
  page: 1, ratings: [], languages: [], only: [], order: '', from: '', to: '', after: '', before: '',
};

/** The orders to choose from, by their names in addresses and texts. */
export const orders = ['', 'oldest', 'highest', 'lowest', 'helpful'] as const;
export type Order = (typeof orders)[number];

/** Returns the order with a name, or the default order. */
export function orderOf(name: string | null): Order {
  return orders.find((order) => order === name) ?? '';
}

/** Traits that comments can be filtered by, by their names in addresses and texts. */
export const traits = ['verified', 'media'] as const;

/** The most languages that a filter may have. */
const mostLanguages = 100;

const names = ['page', 'rating', 'language', 'only', 'order', 'from', 'to', 'after', 'before'];

/** Parses a query string. Ignores values it cannot parse. */
export function parseChoice(query: string): Choice {
  const given = new URLSearchParams(query);
  const page = given.get('page') ?? '';
  const after = cursor(given.get('after'));
  const before = after ? '' : cursor(given.get('before'));
  const [from, to] = days(given.get('from'), given.get('to'));
  return {
    page: /^[1-9]\d{0,8}$/.test(page) && !after && !before ? Number(page) : 1,
    ratings: unique(
      given
        .getAll('rating')
        .filter((text) => /^[1-5]$/.test(text))
        .map(Number),
    ).sort((a, b) => b - a),
    languages: unique(given.getAll('language').map(canonicalTag).filter(Boolean))
      .sort()
      .slice(0, mostLanguages),
    only: traits.filter((trait) => given.getAll('only').includes(trait)),
    order: orderOf(given.get('order')),
    from, to, after, before,
  };
}

/**
 * Returns the query string of a choice, without "?". It is "" for the first page of all comments.
 */
export function queryOf(choice: Choice): string {
  return new URLSearchParams(pairsOf(choice)).toString();
}

/**
 * Returns the names and values of a choice, as pairs for a query string or for hidden fields of a
 * form.
 */
export function pairsOf(choice: Choice): [string, string][] {
  const pairs: [string, string][] = [
    ['page', choice.page > 1 ? String(choice.page) : ''],
    ...choice.ratings.map((rating): [string, string] => ['rating', String(rating)]),
    ...choice.languages.map((tag): [string, string] => ['language', tag]),
    ...choice.only.map((trait): [string, string] => ['only', trait]),
    ...(['order', 'from', 'to', 'after', 'before'] as const).map((name): [string, string] => [
      name,
      choice[name],
    ]),
  ];
  return pairs.filter(([, value]) => value);
}

/** Returns the host page's own part of a query string: everything but a choice, without "?". */
export function foreignQuery(query: string): string {
  const kept = [...new URLSearchParams(query)].filter(([name]) => !names.includes(name));
  return new URLSearchParams(kept).toString();
}

/** Reports whether the choice is the first page of all comments, which needs no query string. */
export function isFirst(choice: Choice): boolean {
  return queryOf(choice) === '';
}

/** Reports whether the list begins with the newest comments. A new comment then goes to its top. */
export function isNewest({ page, after, before, order, to }: Choice): boolean {
  return page === 1 && !after && !before && !order && !to;
}

/** Reports whether the choice is limited by dates. Counts by language do not cover dates. */
export function isDated({ from, to }: Choice): boolean {
  return !!(from || to);
}

/** Reports whether the choice may leave out comments. */
export function isFiltered(choice: Choice): boolean {
  return (
    choice.ratings.length > 0 ||
    choice.languages.length > 0 ||
    choice.only.length > 0 ||
    isDated(choice)
  );
}

/** Returns the first page of a choice after a change. */
export function changed(choice: Choice, change: Partial<Choice> = {}): Choice {
  return { ...choice, page: 1, after: '', before: '', ...change };
}

/** Adds a value to a list, or removes it if the list has it. */
export function toggled<T>(list: readonly T[], value: T): T[] {
  return list.includes(value) ? list.filter((other) => other !== value) : [...list, value];
}

function unique<T>(list: T[]): T[] {
  return [...new Set(list)];
}

/**
 * Three-letter language codes for which browsers and the service disagree: the browser replaces the
 * code by a two-letter one and the service does not, or each uses another code.
 */
const kept =
  /als|arb|ayr|azj|cls|cmn|cwd|ekk|esk|fat|fuc|gaz|gug|ike|jaw|khk|kmr|knc|kng|kpv|lvs|mol|npi|ojg|ory|pbu|pes|plt|quz|scc|scr|src|swh|twi|uzn|ydd|zsm|zyb/;

/**
 * Returns the canonical form of a language tag, or "" if the text is no tag. Underscores, which
 * many programs write, are accepted. Three-letter codes are replaced by two-letter ones, such as
 * deu by de, as the service does. Browsers reject private-use tags, so "x" is parsed as part of
 * "und-x".
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

/** Returns the two days in order. Nobody means to ask for an empty range. */
function days(from: string | null, to: string | null): [string, string] {
  const [first, last] = [day(from), day(to)];
  return first && last && last < first ? [last, first] : [first, last];
}

function day(text: string | null): string {
  if (!text || !/^\d{4}-\d\d-\d\d$/.test(text) || text < '1970' || text >= '9999') return '';
  // Otherwise the month has no such day, or there is no such month.
  return new Date(text).toJSON()?.startsWith(text) ? text : '';
}

function cursor(text: string | null): string {
  return text && /^[\w-]{1,64}$/.test(text) ? text : '';
}
