// What a reader wants, what the service answered, and what is under way. Nothing here draws.
import { changed, type Choice, isFirst, queryOf } from './address';
import { type Answer, type List, operation, type Plan, type Product, variablesOf } from './answer';
import { ask, type Client, type Problem, problemIn, problemOf } from './client';
import { type Change, isKnown, nodesWith, waits, withChange } from './desk';
import { forgetVisitor } from './forms/visitor';
import type { Shown } from './view';

export interface Settings {
  readonly product: string;
  readonly pageSize: number;
  readonly client: Client;
  /** Whether the best and the worst comment are shown above the first page. */
  highlights(): boolean;
}

/** What the page around the element is told. */
export interface Listener {
  /** Something to draw has changed. */
  changed(): void;
  answered(detail: { plan: Plan | null; variables: unknown; milliseconds: number }): void;
  failed(problem: Problem): void;
}

/** How long lists may be behind a write, in milliseconds; the service says moments. */
const lag = 20_000;

/** Takes an answer, and may read further pages that belong to it. */
type Take = (answer: Answer, read: (choice: Choice) => Promise<Answer>) => void | Promise<void>;

/** The conversation with the service about one product. The latest wish wins. */
export class Session {
  readonly settings: Settings;
  choice: Choice;
  shown: Shown | null = null;
  problem: Problem | null = null;
  busy = false;
  /** Whether the last request was for more, so that another attempt asks for the same. */
  more = false;
  /** The ids of comments that came to the list since it was read. */
  readonly fresh = new Set<string>();
  /** What was last shown at an address, for "Back". */
  readonly at = new Map<string, Shown>();
  /** How long the last answer took; null before there was one. */
  #milliseconds: number | null = null;
  readonly #listener: Listener;
  #underWay = new AbortController();
  #written: { readonly change: Change; readonly until: number }[] = [];

  constructor(settings: Settings, choice: Choice, listener: Listener) {
    this.settings = settings;
    this.choice = choice;
    this.#listener = listener;
  }

  /** Asks for a choice. What is shown stays until the answer is there. Asked again for what is shown, so are the pages below. */
  async load(choice: Choice): Promise<void> {
    const below = choice === this.shown?.choice ? this.shown.more.length : 0;
    this.choice = choice;
    this.more = false;
    await this.#request(choice, async (answer, read) => {
      const more: List[] = [];
      for (let list = answer.data?.product?.list; list?.pageInfo.hasNextPage && more.length < below; list && more.push(list)) {
        list = (await read(behind(choice, list.pageInfo.endCursor))).data?.product?.list;
      }
      this.show(answer, more);
    });
  }

  /** Shows what was shown at an address, and reads it again; else asks for its choice. */
  async back(choice: Choice): Promise<void> {
    const left = this.at.get(queryOf(choice));
    if (left) this.shown = this.#amended(left);
    await this.load(left?.choice ?? choice);
  }

  /** Asks for the comments behind the last that is shown, and puts them below. */
  async loadMore(after: string): Promise<void> {
    if (!this.shown) return;
    this.choice = this.shown.choice; // the latest wish is for more of these
    this.more = true;
    await this.#request(behind(this.choice, after), ({ data }) => {
      const list = data?.product?.list;
      const shown = this.shown; // what was written or voted meanwhile is in it
      if (list && shown) this.shown = this.#amended({ ...shown, more: [...shown.more, list], milliseconds: this.#milliseconds });
    });
  }

  /** The choice that begins with the last page that is shown, as the numbers of pages do. */
  get place(): Choice {
    const { choice, shown } = this;
    if (!shown?.more.length || choice !== shown.choice) return choice;
    const { list } = shown.data.product as Product;
    return list?.pageNumber ? changed(choice, { page: list.pageNumber + shown.more.length }) : behind(choice, [list, ...shown.more].at(-2)?.pageInfo.endCursor);
  }

  /** Shows a change that was written, in this answer and in those of the next moments. */
  amend(change: Change): void {
    this.fresh.delete(change.comment.id);
    const keeps = waits(change) && !this.settings.client.signedIn(); // the service does not know whose it is
    // What was deleted is not shown again by what was written before.
    const before = this.#written.filter((other) => change.kind !== 'deleted' || other.change.comment.id !== change.comment.id);
    this.#written = [...before, { change, until: keeps ? Infinity : performance.now() + lag }];
    if (!this.shown) return;
    this.shown = this.#amended(this.shown);
    this.#listener.changed();
  }

  /** Forgets an answer that cannot be drawn, such as what something between here and the service made of it. */
  spoil(error: unknown): void {
    if (!this.shown) throw error;
    this.shown = null;
    this.problem = problemIn(error);
    this.#listener.failed(this.problem);
    this.#listener.changed();
  }

  /** Gives up what is under way. */
  stop(): void {
    this.#underWay.abort();
    this.busy = false;
  }

  async #request(choice: Choice, take: Take): Promise<void> {
    this.#underWay.abort();
    const { signal } = (this.#underWay = new AbortController());
    const { product, pageSize, client } = this.settings;
    const read = async (choice: Choice) => {
      const asked = variablesOf(product, choice, pageSize);
      const variables = { ...asked, highlights: asked.highlights && this.settings.highlights(), ...(client.signedIn() && { voter: true, ...(isFirst(choice) && { own: true }) }) };
      const started = performance.now();
      const answer = await ask(client, operation, variables, signal);
      signal.throwIfAborted();
      this.#milliseconds = performance.now() - started;
      this.#listener.answered({ plan: answer.data?.product?.list?.plan ?? null, variables, milliseconds: this.#milliseconds });
      return answer;
    };
    this.busy = true;
    this.problem = null;
    this.#listener.changed();
    try {
      const answer = await read(choice);
      const isNobody = answer.data?.viewer?.cannotWriteReason === 'TOKEN_REFUSED' && client.visits();
      if (isNobody && forgetVisitor(client.service)) return await this.#request(choice, take); // visitors vote no longer
      this.problem = problemOf(answer, choice.page > 1);
      await take(answer, read);
    } catch (error) {
      if (signal.aborted) return;
      this.problem = problemIn(error);
    }
    this.busy = false;
    if (this.problem) this.#listener.failed(this.problem);
    this.#listener.changed();
  }

  /** Takes an answer, such as one that came with the page. */
  show(answer: Answer, more: readonly List[] = []): void {
    this.problem = problemOf(answer, this.choice.page > 1);
    const product = answer.data?.product;
    if (!product) return;
    this.#written = this.#written.filter(({ change }) => !waits(change) || !isKnown(product, change));
    if (answer.data.viewer?.customerId !== this.shown?.data.viewer?.customerId) this.at.clear(); // it has what another customer sees
    this.fresh.clear();
    this.shown = this.#amended({ choice: this.choice, data: answer.data, more, milliseconds: this.#milliseconds });
  }

  #amended(shown: Shown): Shown {
    this.#written = this.#written.filter(({ until }) => until > performance.now());
    return this.#written.reduce(({ data, more, ...rest }, { change }) => ({
      ...rest,
      data: withChange(data, rest.choice, change),
      more: more.map((list) => ({ ...list, nodes: nodesWith(list.nodes, change) })),
    }), shown);
  }
}

/** The page behind a cursor, in the same list. */
function behind(choice: Choice, after: string | null | undefined): Choice {
  return changed(choice, { after: after ?? '' });
}
