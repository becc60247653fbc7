import type { ComponentChildren, TargetedEvent } from 'preact';
import type { Texts } from '../texts';
import type { UserError } from './changes';
import { type Draft } from './drafts';

/** The service's limits, in characters. */
const most: Readonly<Record<string, number>> = { title: 200, text: 10_000, name: 100 };

export interface Fields {
  readonly texts: Texts;
  /** The languages at the top of the list: the page's, and those of the product's comments. */
  readonly near: readonly string[];
  /** Makes the ids of the fields unique to this form. */
  readonly id: string;
  readonly draft: Draft;
  readonly errors: readonly UserError[];
  /** Whether the form asks for a name. */
  readonly named: boolean;
  /**
   * Whether the draft is being sent. The fields are read-only meanwhile, since later input would be
   * lost.
   */
  readonly busy: boolean;
  typed(change: Partial<Draft>): void;
}

/** All fields, each with its errors. */
export function FormFields(form: Fields) {
  const { texts, draft, named, busy, typed } = form;
  const near = [...new Set([...form.near, draft.language])].filter((tag) => tag !== '');
  const option = (tag: string) => (
    <option key={tag} value={tag} lang={tag}>
      {texts.language(tag)}
    </option>
  );
  const input = (
    event: TargetedEvent<HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement>,
  ) => typed({ [event.currentTarget.name]: event.currentTarget.value });
  const given = (name: 'title' | 'text' | 'name' | 'tag') => ({
    ...described(form, name),
    name,
    dir: 'auto' as const,
    value: draft[name],
    readOnly: busy,
    onInput: input,
  });
  return (
    <>
      <Rating {...form} />
      <Field form={form} name="title"><input {...given('title')} autocomplete="off" /></Field>
      <Field form={form} name="text"><textarea {...given('text')}></textarea></Field>
      <Field form={form} name="language">
        <select
          {...described(form, 'language')}
          name="language"
          value={draft.language}
          disabled={busy}
          onChange={input}
        >
          {near.map(option)}
          <hr />
          {languages(texts, near).map(option)}
          <option value="">{texts.say('write.other')}</option>
        </select>
        {draft.language === '' && (
          <input
            {...given('tag')}
            aria-label={texts.say('write.tag')}
            placeholder="pt-BR"
            autocomplete="off"
          />
        )}
      </Field>
      {named && (
        <Field form={form} name="name">
          <input {...given('name')} autocomplete="name" />
        </Field>
      )}
    </>
  );
}

type Name = 'rating' | 'title' | 'text' | 'language' | 'name';
type Part = { form: Fields; name: Name };

/** Five stars to choose from. They are radio buttons, so arrow keys move the choice. */
function Rating(form: Fields) {
  const { texts, draft, busy, typed } = form;
  return (
    <fieldset class="field" role="radiogroup" disabled={busy} {...described(form, 'rating')}>
      <legend>{texts.say('write.rating')}</legend>
      <div class="rate">
        {[1, 2, 3, 4, 5].map((n) => (
          <label key={n} title={texts.count('stars', n)}>
            <input
              type="radio"
              name="rating"
              value={n}
              checked={draft.rating === n}
              aria-label={texts.count('stars', n)}
              onChange={() => typed({ rating: n })}
            />
          </label>
        ))}
        {draft.rating > 0 && (
          <span class="hint" aria-hidden="true">
            {texts.say('stars.of', { n: String(draft.rating) })}
          </span>
        )}
      </div>
      <Notes form={form} name="rating" />
    </fieldset>
  );
}

/** A field with its label and notes. */
function Field({ form, name, children }: Part & { children: ComponentChildren }) {
  const { id, texts } = form;
  const text = texts.say(`write.${name}`);
  return (
    <div class="field">
      <label for={`${id}-${name}`}>
        {name === 'title' || name === 'text' ? texts.say('write.optional', { name: text }) : text}
      </label>
      {children}
      <Notes form={form} name={name} />
    </div>
  );
}

/** The errors of a field, and its remaining length when little is left. */
function Notes({ form, name }: Part) {
  const { texts, id, draft, errors } = form;
  const limit = most[name] ?? Infinity;
  const length = [...String(draft[name])].length; // the service counts code points too
  return (
    <div id={`${id}-${name}-notes`}>
      {length > limit * 0.9 && (
        <p class="hint">
          {texts.say('write.count', { n: texts.number(length), most: texts.number(limit) })}
        </p>
      )}
      {name === 'language' && draft.tagged === 'guessed' && (
        <p class="hint">{texts.say('write.guessed')}</p>
      )}
      {errors
        .filter((error) => fieldOf(error) === name)
        .map((error, i) => (
          <p key={i} class="error">
            {wordsFor(texts, error, draft)}
          </p>
        ))}
    </div>
  );
}

/**
 * Returns the attributes that connect a field to its notes. "tag" shares the notes of "language".
 */
function described({ id, errors, draft }: Fields, name: Name | 'tag') {
  const field = name === 'tag' ? 'language' : name;
  const wrong =
    errors.some((error) => fieldOf(error) === field) &&
    !(name === 'language' && draft.language === '');
  return {
    id: `${id}-${name}`,
    'aria-describedby': `${id}-${field}-notes`,
    'aria-invalid': wrong || undefined,
  };
}

/** Returns the name of the field with the error: the last step of its path. */
export function fieldOf({ path }: UserError): string {
  return path.at(-1) ?? '';
}

/** Reports whether the form has a field that shows the error. */
export function isShown(error: UserError, named: boolean): boolean {
  return ['rating', 'title', 'text', 'language', ...(named ? ['name'] : [])].includes(
    fieldOf(error),
  );
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

/**
 * Returns the control characters of a text, such as "U+001B". They are invisible and cannot be
 * stored.
 */
function controlsOf(text: string): string {
  const found = new Set(text.match(/[^\P{Cc}\n\t]/gu));
  return [...found]
    .map((char) => `U+${char.codePointAt(0)?.toString(16).toUpperCase().padStart(4, '0')}`)
    .join(', ');
}

/**
 * Returns all other languages that have a name, sorted by it. Browsers return the tag of a language
 * without one.
 */
function languages(texts: Texts, near: readonly string[]): string[] {
  const named = texts.tags.filter(
    (tag) => !near.includes(tag) && texts.language(tag).toLowerCase() !== tag,
  );
  return named.sort((a, b) => texts.language(a).localeCompare(texts.language(b), texts.locale));
}
