import type { ComponentChildren, TargetedEvent } from 'preact';
import type { Texts } from '../texts';
import type { UserError } from './changes';
import { type Draft } from './drafts';

/** How many characters the service takes. */
const most: Readonly<Record<string, number>> = { title: 200, text: 10_000, name: 100 };

export interface Fields {
  readonly texts: Texts;
  /** The languages to begin with: that of the page, and those of the product's comments. */
  readonly near: readonly string[];
  /** Tells the fields of this form from those of others. */
  readonly id: string;
  readonly draft: Draft;
  readonly errors: readonly UserError[];
  /** Whether a name is asked for. */
  readonly named: boolean;
  /** Whether the draft is on its way: what would be typed now would be in no comment. */
  readonly busy: boolean;
  typed(change: Partial<Draft>): void;
}

/** What is asked for, each with what is wrong with it. */
export function FormFields(form: Fields) {
  const { texts, draft, named, busy, typed } = form;
  const near = [...new Set([...form.near, draft.language])].filter((tag) => tag !== '');
  const option = (tag: string) => <option key={tag} value={tag} lang={tag}>{texts.language(tag)}</option>;
  const input = (event: TargetedEvent<HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement>) =>
    typed({ [event.currentTarget.name]: event.currentTarget.value });
  const given = (name: 'title' | 'text' | 'name' | 'tag') => ({ ...described(form, name), name, dir: 'auto' as const, value: draft[name], readOnly: busy, onInput: input });
  return (
    <>
      <Rating {...form} />
      <Field form={form} name="title"><input {...given('title')} autocomplete="off" /></Field>
      <Field form={form} name="text"><textarea {...given('text')}></textarea></Field>
      <Field form={form} name="language">
        <select {...described(form, 'language')} name="language" value={draft.language} disabled={busy} onChange={input}>
          {near.map(option)}
          <hr />
          {languages(texts, near).map(option)}
          <option value="">{texts.say('write.other')}</option>
        </select>
        {draft.language === '' && <input {...given('tag')} aria-label={texts.say('write.tag')} placeholder="pt-BR" autocomplete="off" />}
      </Field>
      {named && <Field form={form} name="name"><input {...given('name')} autocomplete="name" /></Field>}
    </>
  );
}

type Name = 'rating' | 'title' | 'text' | 'language' | 'name';
type Part = { form: Fields; name: Name };

/** Five stars to choose from: radio buttons, so arrow keys move the choice. */
function Rating(form: Fields) {
  const { texts, draft, busy, typed } = form;
  return (
    <fieldset class="field" role="radiogroup" disabled={busy} {...described(form, 'rating')}>
      <legend>{texts.say('write.rating')}</legend>
      <div class="rate">
        {[1, 2, 3, 4, 5].map((n) => (
          <label key={n} title={texts.count('stars', n)}>
            <input type="radio" name="rating" value={n} checked={draft.rating === n} aria-label={texts.count('stars', n)} onChange={() => typed({ rating: n })} />
          </label>
        ))}
        {draft.rating > 0 && <span class="hint" aria-hidden="true">{texts.say('stars.of', { n: String(draft.rating) })}</span>}
      </div>
      <Notes form={form} name="rating" />
    </fieldset>
  );
}

/** A field between its label and its notes. */
function Field({ form, name, children }: Part & { children: ComponentChildren }) {
  const { id, texts } = form;
  const text = texts.say(`write.${name}`);
  return (
    <div class="field">
      <label for={`${id}-${name}`}>{name === 'title' || name === 'text' ? texts.say('write.optional', { name: text }) : text}</label>
      {children}
      <Notes form={form} name={name} />
    </div>
  );
}

/** What is wrong with a field, and how much room it has left once that is little. */
function Notes({ form, name }: Part) {
  const { texts, id, draft, errors } = form;
  const limit = most[name] ?? Infinity;
  const length = [...String(draft[name])].length; // characters as the service counts them
  return (
    <div id={`${id}-${name}-notes`}>
      {length > limit * 0.9 && <p class="hint">{texts.say('write.count', { n: texts.number(length), most: texts.number(limit) })}</p>}
      {name === 'language' && draft.tagged === 'guessed' && <p class="hint">{texts.say('write.guessed')}</p>}
      {errors.filter((error) => fieldOf(error) === name).map((error, i) => <p key={i} class="error">{wordsFor(texts, error, draft)}</p>)}
    </div>
  );
}

/** The attributes that tie a field to its notes. The tag of another language shares those of the language. */
function described({ id, errors, draft }: Fields, name: Name | 'tag') {
  const field = name === 'tag' ? 'language' : name;
  const wrong = errors.some((error) => fieldOf(error) === field) && !(name === 'language' && draft.language === '');
  return { id: `${id}-${name}`, 'aria-describedby': `${id}-${field}-notes`, 'aria-invalid': wrong || undefined };
}

/** The field that an error is about: the last step of its path. */
export function fieldOf({ path }: UserError): string {
  return path.at(-1) ?? '';
}

/** Whether a field is there to show an error. */
export function isShown(error: UserError, named: boolean): boolean {
  return ['rating', 'title', 'text', 'language', ...(named ? ['name'] : [])].includes(fieldOf(error));
}

function wordsFor(texts: Texts, error: UserError, draft: Draft): string {
  const name = fieldOf(error);
  if (name === 'rating' || name === 'language') return texts.say(`invalid.${name}`);
  switch (error.code) {
    case 'EMPTY':
      return texts.say('invalid.empty');
    case 'TOO_LONG':
      return texts.say('invalid.long', { n: texts.number(most[name] ?? 0) });
    case 'MALFORMED':
      return texts.say('invalid.characters', { list: controlsOf(draft[name as 'text']) });
    default:
      return error.message;
  }
}

/** The characters that cannot be kept, such as "U+001B", since they cannot be seen. */
function controlsOf(text: string): string {
  const found = new Set(text.match(/[^\P{Cc}\n\t]/gu));
  return [...found].map((char) => `U+${char.codePointAt(0)?.toString(16).toUpperCase().padStart(4, '0')}`).join(', ');
}

/** All other languages that have a name, by that name. Of some, browsers have nothing but the tag. */
function languages(texts: Texts, near: readonly string[]): string[] {
  const named = texts.tags.filter((tag) => !near.includes(tag) && texts.language(tag).toLowerCase() !== tag);
  return named.sort((a, b) => texts.language(a).localeCompare(texts.language(b), texts.locale));
}
