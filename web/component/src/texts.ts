// Texts, numbers and dates in the reader's language.
import en from '../../product/texts/en.json';
import autonyms from '../../product/texts/languages.json';

export type Key = keyof typeof en;
/**
 * Keys with plural forms, named as by Intl.PluralRules: "one" and "other" in English, more or fewer
 * elsewhere.
 */
export type CountedKey = Key extends infer K
  ? K extends `${infer Base}.one`
    ? Base
    : never
  : never;

/** Texts of the page that replace the element's own, by key. */
export type Strings = Partial<
  Readonly<Record<Key | `${CountedKey}.${'zero' | 'two' | 'few' | 'many'}`, string>>
>;

type Values = Readonly<Record<string, string>>;

/**
 * The languages with a file of texts beside the script. The script itself includes the English
 * texts.
 */
// The Chinese texts are in simplified characters.
const served = /^(ar|de|es|fr|it|ja|nl|pl|pt|sv|zh(?!-(hant|tw|hk|mo)\b))\b/;
const english: Record<string, string> = { ...en };
const loaded: Record<string, Values> = { en: english };
const loading: Record<string, Promise<void>> = {};

/** The names of languages by tag. The browser's name is added on first use. */
const names: Record<string, string | undefined> = autonyms;

/** The time limit for loading texts, in milliseconds. After that, the element speaks English. */
const patience = 8_000;

/** Returns the language of a tag that has texts, or English. */
function languageOf(tag: string): string {
  return served.exec(tag.toLowerCase())?.[0] ?? 'en';
}

/**
 * Loads the texts of a language from a folder; returns null if they are loaded. Never rejects: if
 * loading fails, the English texts are used.
 */
export function load(tag: string, folder: URL): Promise<void> | null {
  const language = languageOf(tag);
  if (loaded[language]) return null;
  return (loading[language] ??= fetch(new URL(`${language}.json`, folder), {
    signal: AbortSignal.timeout(patience),
  })
    .then(async (response) => {
      if (!response.ok) throw new Error(`HTTP ${response.status}`);
      loaded[language] = (await response.json()) as Values;
    })
    .catch((error: unknown) =>
      console.warn(`<talkback-comments>: no texts in ${language}: ${error}`),
    )
    .finally(() => delete loading[language]));
}

/** Adds the English texts of a script that was loaded later. */
export function learn(texts: Values): void {
  Object.assign(english, texts);
}

/** The texts of one language, or English ones if there are none. */
export class Texts {
  readonly locale: string;
  readonly #texts: Values;
  readonly #format: string;
  readonly #number: Intl.NumberFormat;
  readonly #day: Intl.DateTimeFormat;
  readonly #plural: Intl.PluralRules;

  constructor(tag: string, strings: Strings = {}) {
    const language = languageOf(tag);
    // A page that replaces the texts by those of another language sets the locale too.
    const given = strings['comments.other'] ? /^[a-z]{2,3}\b/.exec(tag.toLowerCase())?.[0] : '';
    this.locale = (language === 'en' && given) || (loaded[language] ? language : 'en');
    this.#texts = { ...loaded[this.locale], ...strings };
    // Most shops use Latin digits with Arabic, and the server does the same.
    this.#format = { en: 'en-GB', ar: 'ar-u-nu-latn' }[this.locale] ?? this.locale;
    this.#number = new Intl.NumberFormat(this.#format, { maximumFractionDigits: 20 });
    this.#day = new Intl.DateTimeFormat(this.#format, { dateStyle: 'long', timeZone: 'UTC' });
    this.#plural = new Intl.PluralRules(this.#format);
  }

  /** The text direction. */
  get dir(): 'ltr' | 'rtl' {
    return /^(ar|ckb|dv|fa|he|iw|ps|sd|ug|ur|yi)$/.test(this.locale) ? 'rtl' : 'ltr';
  }

  /**
   * Returns the text of a key with {names} replaced by values. For English, texts of reasons are
   * derived from their keys.
   */
  say(key: Key, values: Values = {}): string {
    return (
      this.#texts[key] ??
      english[key] ??
      key[7] + key.replaceAll('_', ' ').slice(8).toLowerCase()
    ).replace(/\{(\w+)\}/g, (hole, name: string) => values[name] ?? hole);
  }

  /** Returns the plural form of a text for a number, such as "1 comment" and "2 comments". */
  count(key: CountedKey, n: number): string {
    return this.say(this.keyFor(key, n), { n: this.number(n) });
  }

  /** Returns the key of the plural form for a number. */
  keyFor(key: CountedKey, n: number): Key {
    const form = `${key}.${this.#plural.select(n)}`;
    return (form in this.#texts || form in english ? form : `${key}.other`) as Key;
  }

  /**
   * Splits a text around its number, so that the number can be an element. Some languages write a
   * number as a word: "two comments".
   */
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

  /** A number with at most `decimals` decimals. */
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

  /** The tags of all languages with a name. */
  get tags(): string[] {
    return Object.keys(names);
  }

  /** Returns the name of a language, in that language. */
  language(tag: string): string {
    if (tag === 'und') return this.say('language.unknown');
    const [base = '', ...rest] = tag.split('-');
    return nameOf(tag) ?? (nameOf(base) ? `${nameOf(base)} (${rest.join('-')})` : tag);
  }
}

/** Returns the name of a language that has one, without regard to regions. */
function nameOf(tag: string): string | undefined {
  if (names[tag] || !hasName(tag)) return names[tag];
  const [first = '', ...rest] = new Intl.DisplayNames(tag, { type: 'language' }).of(tag) ?? tag;
  return (names[tag] = first.toLocaleUpperCase(tag) + rest.join(''));
}

function hasName(tag: string): boolean {
  return Object.hasOwn(names, tag);
}

/**
 * Returns the language to write in for a locale, such as "de" for "de-AT". The tag is kept if it
 * has a name of its own.
 */
export function baseOf(tag: string): string {
  return hasName(tag) ? tag : (tag.split('-')[0] ?? '');
}

/** Parses the JSON of an attribute. Logs an error that names the unknown keys. */
export function stringsOf(json: string | null): Strings {
  try {
    const given = Object.entries(JSON.parse(json || '{}') as object);
    const isOurs = ([key, text]: [string, unknown]) =>
      typeof text === 'string' &&
      (/^(plan|reason)\./.test(key) ||
        Object.hasOwn(en, key.replace(/\.(zero|two|few|many)$/, '.other')));
    const ours = Object.fromEntries(given.filter(isOurs));
    const wrong = given.map(([key]) => key).filter((key) => !Object.hasOwn(ours, key));
    if (wrong.length > 0) {
      console.error(`<talkback-comments> has no text or got no string for: ${wrong.join(', ')}`);
    }
    return ours;
  } catch {
    console.error('<talkback-comments strings> is no JSON');
    return {};
  }
}
