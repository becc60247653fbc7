// Texts, numbers and dates in the language of the reader.
import en from '../../product/texts/en.json';
import de from '../../product/texts/de.json';
import autonyms from '../../product/texts/languages.json';

export type Key = keyof typeof en;
/** Keys that have a form for one and a form for all other numbers. */
export type CountedKey = Key extends infer K ? (K extends `${infer Base}.other` ? Base : never) : never;

/** Texts that a page has in place of ours, by key. */
export type Strings = Partial<Readonly<Record<Key, string>>>;

type Values = Readonly<Record<string, string>>;

const languages: Readonly<Record<string, Readonly<Record<Key, string>>>> = { en, de };
const names: Readonly<Record<string, string>> = autonyms;

/** The texts of a language. A language that has none gets English ones. */
export class Texts {
  readonly locale: string;
  readonly #texts: Readonly<Record<Key, string>>;
  readonly #number: Intl.NumberFormat;
  readonly #day: Intl.DateTimeFormat;

  constructor(tag: string, strings: Strings = {}) {
    const base = tag.toLowerCase().split('-')[0] ?? '';
    this.locale = Object.hasOwn(languages, base) ? base : 'en';
    this.#texts = { ...(languages[this.locale] ?? en), ...strings };
    const format = this.locale === 'en' ? 'en-GB' : this.locale;
    this.#number = new Intl.NumberFormat(format, { maximumFractionDigits: 20 });
    this.#day = new Intl.DateTimeFormat(format, { dateStyle: 'long', timeZone: 'UTC' });
  }

  /** The text of a key, with values in place of {names}. */
  say(key: Key, values: Values = {}): string {
    return this.#texts[key].replace(/\{(\w+)\}/g, (hole, name: string) => values[name] ?? hole);
  }

  /** A text that has a number, {n}, such as "1 comment" and "2 comments". */
  count(key: CountedKey, n: number): string {
    return this.say(this.keyFor(key, n), { n: this.number(n) });
  }

  /** The form of a key that fits a number. */
  keyFor(key: CountedKey, n: number): Key {
    return `${key}.${n === 1 ? 'one' : 'other'}` as Key;
  }

  /** What stands before and after {n} in a text, so that the number can be an element. */
  around(key: Key, values: Values = {}): [string, string] {
    const [before = '', after = ''] = this.say(key, values).split('{n}');
    return [before, after];
  }

  number(n: number): string {
    return this.#number.format(n);
  }

  /** A number with exactly one decimal. */
  decimal(n: number): string {
    const rounded = Math.round(n * 10) / 10;
    return rounded.toLocaleString(this.locale === 'en' ? 'en-GB' : this.locale, { minimumFractionDigits: 1 });
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

  /** The tag of the language that someone writes who has this one: without the country, if it needs none. */
  baseOf(tag: string): string {
    return names[tag] ? tag : tag.split('-')[0] ?? '';
  }

  /** The name of a language in that language. */
  language(tag: string): string {
    if (tag === 'und') return this.say('language.unknown');
    const [base = '', ...rest] = tag.split('-');
    return names[tag] ?? (names[base] ? `${names[base]} (${rest.join('-')})` : tag);
  }
}

/** Reads the JSON of an attribute. Of what is no text of ours the developer is told. */
export function stringsOf(json: string | null): Strings {
  try {
    const given = Object.entries(JSON.parse(json || '{}') as object);
    const wrong = given.filter(([key, text]) => !Object.hasOwn(en, key) || typeof text !== 'string').map(([key]) => key);
    if (wrong.length > 0) console.error(`<talkback-comments> has no text or got no string for: ${wrong.join(', ')}`);
    return Object.fromEntries(given.filter(([key]) => !wrong.includes(key)));
  } catch {
    console.error('<talkback-comments strings> is no JSON');
    return {};
  }
}
