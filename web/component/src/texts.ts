// Texts, numbers and dates in the language of the reader.
import en from '../../product/texts/en.json';
import autonyms from '../../product/texts/languages.json';

export type Key = keyof typeof en;
/** Keys that have forms for numbers, as Intl.PluralRules names them: "one" and "other" in English, more or fewer elsewhere. */
export type CountedKey = Key extends infer K ? (K extends `${infer Base}.one` ? Base : never) : never;

/** Texts that a page has in place of ours, by key. */
export type Strings = Partial<Readonly<Record<Key | `${CountedKey}.${'zero' | 'two' | 'few' | 'many'}`, string>>>;

type Values = Readonly<Record<string, string>>;

/** The languages whose texts are files beside the script. English ones are in it. */
const served = /^(ar|de|es|fr|it|ja|nl|pl|pt|sv|zh(?!-(hant|tw|hk|mo)\b))\b/; // our Chinese is simplified
const english: Record<string, string> = { ...en };
const loaded: Record<string, Values> = { en: english };
const loading: Record<string, Promise<void>> = {};

/** The names of languages by their tags, as the browser has them, once they are asked for. */
const names: Record<string, string | undefined> = autonyms;

/** How long texts may take, in milliseconds. What is shown after that is English. */
const patience = 8_000;

/** The language that a tag is of: one that has texts, else English. */
function languageOf(tag: string): string {
  return served.exec(tag.toLowerCase())?.[0] ?? 'en';
}

/** Loads the texts for a tag from a folder; null if they are there. Without an answer, English ones stand for them. It never throws. */
export function load(tag: string, folder: URL): Promise<void> | null {
  const language = languageOf(tag);
  if (loaded[language]) return null;
  return (loading[language] ??= fetch(new URL(`${language}.json`, folder), { signal: AbortSignal.timeout(patience) })
    .then(async (response) => {
      if (!response.ok) throw new Error(`HTTP ${response.status}`);
      loaded[language] = await response.json() as Values;
    })
    .catch((error: unknown) => console.warn(`<talkback-comments>: no texts in ${language}: ${error}`))
    .finally(() => delete loading[language]));
}

/** Takes up English texts that came with a part of the element. */
export function learn(texts: Values): void {
  Object.assign(english, texts);
}

/** The texts of a language. A language that has none gets English ones. */
export class Texts {
  readonly locale: string;
  readonly #texts: Values;
  readonly #format: string;
  readonly #number: Intl.NumberFormat;
  readonly #day: Intl.DateTimeFormat;
  readonly #plural: Intl.PluralRules;

  constructor(tag: string, strings: Strings = {}) {
    const language = languageOf(tag);
    // Whoever gives the texts of another language speaks that.
    const given = strings['comments.other'] ? /^[a-z]{2,3}\b/.exec(tag.toLowerCase())?.[0] : '';
    this.locale = (language === 'en' && given) || (loaded[language] ? language : 'en');
    this.#texts = { ...loaded[this.locale], ...strings };
    // Most shops write Arabic with the digits of other languages, as the server does.
    this.#format = { en: 'en-GB', ar: 'ar-u-nu-latn' }[this.locale] ?? this.locale;
    this.#number = new Intl.NumberFormat(this.#format, { maximumFractionDigits: 20 });
    this.#day = new Intl.DateTimeFormat(this.#format, { dateStyle: 'long', timeZone: 'UTC' });
    this.#plural = new Intl.PluralRules(this.#format);
  }

  /** The direction of writing. */
  get dir(): 'ltr' | 'rtl' {
    return /^(ar|ckb|dv|fa|he|iw|ps|sd|ug|ur|yi)$/.test(this.locale) ? 'rtl' : 'ltr';
  }

  /** The text of a key, with values in place of {names}. English reasons are the words of their keys. */
  say(key: Key, values: Values = {}): string {
    return (this.#texts[key] ?? english[key] ?? key[7] + key.replaceAll('_', ' ').slice(8).toLowerCase()).replace(/\{(\w+)\}/g, (hole, name: string) => values[name] ?? hole);
  }

  /** A text that has a number, {n}, such as "1 comment" and "2 comments". */
  count(key: CountedKey, n: number): string {
    return this.say(this.keyFor(key, n), { n: this.number(n) });
  }

  /** The form of a key that fits a number. */
  keyFor(key: CountedKey, n: number): Key {
    const form = `${key}.${this.#plural.select(n)}`;
    return (form in this.#texts || form in english ? form : `${key}.other`) as Key;
  }

  /** A text in three parts, so that the number in its middle can be an element. Some have a word for it: "two comments". */
  around(key: Key, n: string, values: Values = {}): [string, string, string] {
    const [before = '', after] = this.say(key, values).split('{n}');
    return after === undefined ? ['', before, ''] : [before, n, after];
  }

  number(n: number): string {
    return this.#number.format(n);
  }

  /** A number with exactly one decimal. */
  decimal(n: number): string {
    const rounded = Math.round(n * 10) / 10;
    return rounded.toLocaleString(this.#format, { minimumFractionDigits: 1 });
  }

  /** A number with at most that many decimals. */
  rounded(n: number, decimals: number): string {
    const scale = 10 ** decimals;
    return this.number(Math.round(n * scale) / scale);
  }

  milliseconds(n: number): string {
    return this.rounded(n, n >= 10 ? 0 : 1);
  }

  /** The day of a time in UTC, such as "31 May 2024". */
  day(time: string): string {
    return this.#day.format(new Date(time));
  }

  /** The tags of the languages that have a name here. */
  get tags(): string[] {
    return Object.keys(names);
  }

  /** The name of a language in that language. */
  language(tag: string): string {
    if (tag === 'und') return this.say('language.unknown');
    const [base = '', ...rest] = tag.split('-');
    return nameOf(tag) ?? (nameOf(base) ? `${nameOf(base)} (${rest.join('-')})` : tag);
  }
}

/** The name of a language that has one. */
function nameOf(tag: string): string | undefined {
  if (names[tag] || !hasName(tag)) return names[tag];
  const [first = '', ...rest] = new Intl.DisplayNames(tag, { type: 'language' }).of(tag) ?? tag;
  return (names[tag] = first.toLocaleUpperCase(tag) + rest.join(''));
}

function hasName(tag: string): boolean {
  return Object.hasOwn(names, tag);
}

/** The tag of the language that someone writes who has this one: without the country, if it needs none. */
export function baseOf(tag: string): string {
  return hasName(tag) ? tag : tag.split('-')[0] ?? '';
}

/** Reads the JSON of an attribute. Of what is no text of ours the developer is told. */
export function stringsOf(json: string | null): Strings {
  try {
    const given = Object.entries(JSON.parse(json || '{}') as object);
    const isOurs = ([key, text]: [string, unknown]) =>
      typeof text === 'string' && (/^(plan|reason)\./.test(key) || Object.hasOwn(en, key.replace(/\.(zero|two|few|many)$/, '.other')));
    const ours = Object.fromEntries(given.filter(isOurs));
    const wrong = given.map(([key]) => key).filter((key) => !Object.hasOwn(ours, key));
    if (wrong.length > 0) console.error(`<talkback-comments> has no text or got no string for: ${wrong.join(', ')}`);
    return ours;
  } catch {
    console.error('<talkback-comments strings> is no JSON');
    return {};
  }
}
