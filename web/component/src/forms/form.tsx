import { Component, createRef } from 'preact';
import type { Comment } from '../answer';
import type { Problem } from '../client';
import type { FormProps } from '../desk';
import { writesBeside } from '../focus';
import type { Key, Texts } from '../texts';
import { againOf } from '../views/failure';
import { Stars } from '../views/summary';
import { change, current, type Outcome, type UserError } from './changes';
import {
  type Draft,
  enrol,
  isBlank,
  languageOf,
  load,
  newDraft,
  placeOf,
  save,
  says,
  typedInto,
  unique,
} from './drafts';
import { fieldOf, FormFields, isShown } from './fields';

interface Props extends FormProps {
  /** The comment to edit; absent for a new one. */
  readonly comment?: Comment;
  /**
   * Called when the draft was published or discarded. With `leads`, the focus moves on from the
   * form.
   */
  close(leads: boolean): void;
}

/** The state that all forms of one draft share. */
interface State {
  readonly draft: Draft;
  readonly errors: readonly UserError[];
  readonly problem: Problem | null;
  /** The comment after somebody else's edit, while it conflicts with the draft. */
  readonly theirs: Comment | null;
}

const untroubled = { errors: [], problem: null, theirs: null };

/** The mounted forms. Forms of one comment in several elements share a draft and its state. */
const forms = new Set<CommentForm>();

/** The keys of the drafts that are being sent, even if their form was unmounted. */
const sending = new Set<string>();

/**
 * The key of the form to focus when it is mounted. A form that opens with a saved draft does not
 * take the focus.
 */
let opening = '';

/** Saves a draft so that its form opens, and gives that form the focus. */
export function openForm(place: string, draft: Draft): void {
  save(place, draft);
  opening = place;
}

/** Returns a mounted form of a draft. */
function formOf(place: string): CommentForm | undefined {
  return [...forms].find((form) => form.place === place);
}

/** Reports whether a draft is in an open form or is being sent. */
export function isInUse(place: string): boolean {
  return sending.has(place) || !!formOf(place);
}

/** The form for a new comment or an edit. Saves the draft at each keystroke. */
export class CommentForm extends Component<Props, State> {
  readonly #form = createRef<HTMLFormElement>();

  constructor(props: Props) {
    super(props);
    this.state = formOf(this.place)?.state ?? {
      draft: load(this.place) ?? newDraft(props.desk),
      ...untroubled,
    };
  }

  override componentDidMount(): void {
    forms.add(this);
    if (opening !== this.place) return;
    opening = '';
    const form = this.#form.current;
    (form?.querySelector<HTMLElement>('input:checked') ?? form?.querySelector('input'))?.focus();
  }

  override componentWillUnmount(): void {
    forms.delete(this);
  }

  get place(): string {
    return placeOf(this.props.desk, this.props.comment?.id);
  }

  /** Whether to ask for a name: for a new comment, unless the page gave one. */
  get #named(): boolean {
    return this.state.draft.version === 0 && this.props.desk.customerName() === '';
  }

  #typed = (typed: Partial<Draft>): void => {
    // Reads the stored draft: autofill changes several fields before the next render, and the state
    // is older.
    const by = this.props.viewer?.customerId;
    const draft = typedInto(load(this.place) ?? this.state.draft, by ? { ...typed, by } : typed);
    save(this.place, draft);
    // The errors of a field stay until it changes.
    const changed = 'tag' in typed ? { language: '' } : typed;
    this.#share(({ errors }) => ({
      draft,
      errors: errors.filter((error) => !(fieldOf(error) in changed)),
    }));
  };

  /** Changes the state of all forms of this draft. */
  #share(change: (state: State) => Partial<State>): void {
    for (const form of forms) if (form.place === this.place) form.setState(change);
  }

  #submit = async (event: Event): Promise<void> => {
    event.preventDefault();
    const { place, state: { draft } } = this;
    if (sending.has(place)) return;
    sending.add(place);
    this.#share(() => untroubled);
    const outcome = await (draft.version ? this.#edit(draft) : this.#add(draft));
    sending.delete(place);
    if (outcome.comment) return this.#done(draft, outcome.comment);
    this.#share(() => ({ errors: outcome.errors ?? [], problem: outcome.problem ?? null }));
    this.setState({}, this.#focusTrouble);
  };

  async #add(draft: Draft): Promise<Outcome> {
    const { desk, viewer } = this.props;
    const name = (this.#named ? draft.name : desk.customerName()).trim();
    const author = { id: viewer?.customerId ?? enrol(name), name };
    const outcome = await change(desk.client, 'add', {
      ...inputOf(draft),
      productId: desk.product,
      author,
      idempotencyKey: draft.key,
    });
    // An earlier attempt was stored although its answer was lost, and the text changed since. The
    // next attempt adds a second comment.
    if (outcome.errors?.some(({ code }) => code === 'KEY_REUSED')) this.#goOn({ key: unique() });
    return outcome;
  }

  /**
   * Sends the edit. After a conflict, shows the other version. If that has the same content, an
   * earlier attempt was stored.
   */
  async #edit(draft: Draft): Promise<Outcome> {
    const { client } = this.props.desk;
    const id = this.props.comment?.id ?? '';
    const outcome = await change(client, 'edit', { ...inputOf(draft), id, version: draft.version });
    const codes = outcome.errors?.map(({ code }) => code) ?? [];
    // The next attempt publishes it as a new comment.
    if (codes.includes('NOT_FOUND')) this.#goOn({ version: 0 });
    if (!codes.includes('CONFLICT')) return outcome;
    const { comment, problem } = await current(client, id);
    if (problem) return { problem };
    if (comment && says(comment, draft)) return { comment };
    this.#goOn({ version: comment?.version ?? 0 });
    this.#share(() => ({ theirs: comment ?? null }));
    return { errors: [] };
  }

  /** Updates the draft after an answer, unless it was discarded meanwhile. */
  #goOn(change: Partial<Draft>): void {
    if (load(this.place)) this.#typed(change);
  }

  #done(draft: Draft, comment: Comment): void {
    const leads = !writesBeside(this.#form.current);
    this.#close();
    this.props.desk.written({ kind: draft.version ? 'edited' : 'added', comment }, leads);
  }

  /** Deletes the draft and closes all its forms. */
  #close(): void {
    save(this.place, null);
    for (const form of forms) {
      if (form.place === this.place) {
        form.props.close(form === this && !writesBeside(this.#form.current));
      }
    }
  }

  /** Discards the draft. After a conflict, shows the other version. */
  #discard = (): void => {
    const { theirs } = this.state;
    this.#close();
    if (theirs) this.props.desk.seen({ kind: 'edited', comment: theirs });
  };

  #focusTrouble = (): void => {
    const form = this.#form.current;
    if (writesBeside(form)) return;
    const field = form?.querySelector<HTMLElement>('[aria-invalid]');
    (
      field?.querySelector('input') ??
      field ??
      form?.querySelector<HTMLElement>('.trouble')
    )?.focus();
  };

  override render({ texts, comment }: Props, { draft, errors, theirs }: State) {
    const busy = sending.has(this.place);
    const deleted = comment && draft.version === 0;
    const isUntouched = comment && !deleted ? says(comment, draft) : isBlank(draft);
    const discard: Key = theirs ? 'write.theirs' : isUntouched ? 'write.cancel' : 'write.discard';
    const submit: Key = busy
      ? 'write.busy'
      : theirs
        ? 'write.mine'
        : comment && !deleted
          ? 'write.save'
          : 'write.publish';
    return (
      <form ref={this.#form} method="post" noValidate aria-busy={busy} onSubmit={this.#submit}>
        {this.#trouble()}
        {theirs && <Theirs texts={texts} comment={theirs} />}
        <FormFields
          texts={texts}
          id={comment?.id ?? 'new'}
          draft={draft}
          errors={errors}
          near={this.props.desk.languages()}
          named={this.#named}
          busy={busy}
          typed={this.#typed}
        />
        <div class="buttons">
          <button class="button primary" aria-disabled={busy || undefined}>
            {texts.say(submit)}
          </button>
          <button class="button quiet" type="button" onClick={this.#discard}>
            {texts.say(discard)}
          </button>
        </div>
      </form>
    );
  }

  /** The errors and problems of the whole form, above its fields. */
  #trouble() {
    const { texts, comment } = this.props;
    const { draft, errors, problem, theirs } = this.state;
    const general = errors.filter(
      (error) => !isShown(error, this.#named) && error.code !== 'NOT_FOUND',
    );
    const saysSo = errors.some(({ code }) => code === 'NOT_FOUND' || code === 'KEY_REUSED');
    const words = [
      ...(problem || (errors.length > 0 && !saysSo)
        ? [texts.say(draft.version ? 'write.unsaved' : 'write.unpublished')]
        : []),
      ...(comment && draft.version === 0 ? [texts.say('write.gone')] : []),
      ...(theirs ? [texts.say('write.conflict')] : []),
      ...general.map(({ code, message }) =>
        code === 'KEY_REUSED'
          ? texts.say('write.reused')
          : code === 'ALREADY_WRITTEN'
            ? texts.say('write.already')
            : message,
      ),
      ...(problem ? [...wordsOf(texts, problem), texts.say('write.kept')] : []),
    ];
    if (words.length === 0) return null;
    return (
      <div class="error trouble" role="alert" tabIndex={-1}>
        {words.map((text) => (
          <p key={text}>{text}</p>
        ))}
      </div>
    );
  }
}

/** The current version of a comment, beside a conflicting draft. */
function Theirs({
  texts,
  comment: { rating, title, text, language },
}: {
  texts: Texts;
  comment: Comment;
}) {
  return (
    <blockquote class="theirs">
      <Stars label={texts.say('stars.of', { n: String(rating) })} average={rating} />
      {title && <p class="title" lang={language} dir="auto">{title}</p>}
      {text && <p class="text" lang={language} dir="auto">{text}</p>}
    </blockquote>
  );
}

/** Returns texts that say why a change failed, as far as known, and what to do. */
export function wordsOf(texts: Texts, { kind, retryAfter }: Problem): string[] {
  const keys: Partial<Record<Problem['kind'], Key>> = {
    unauthenticated: 'write.again',
    forbidden: 'write.forbidden',
    unavailable: 'write.failed',
    refused: 'write.failed',
  };
  return [
    texts.say(keys[kind] ?? `error.${kind as 'busy'}`),
    againOf(texts, kind, retryAfter),
  ].filter(Boolean);
}

function inputOf(draft: Draft) {
  const { rating, title, text } = draft;
  return { rating, title, text, language: languageOf(draft) };
}
