// The state of one product's comments: the reader's choice, the last answer and the current
// request. Renders nothing.
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

/** The callbacks of a session. */
export interface Listener {
  /** The state changed and must be rendered. */
  changed(): void;
  answered(detail: { plan: Plan | null; variables: unknown; milliseconds: number }): void;
  failed(problem: Problem): void;
}

/** How long lists may lag behind a write, in milliseconds. The service promises moments. */
const lag = 20_000;

/** Handles an answer. It can read further pages with `read`. */
type Take = (answer: Answer, read: (choice: Choice) => Promise<Answer>) => void | Promise<void>;

/** The conversation with the service about one product. A new request replaces the current one. */
export class Session {
  readonly settings: Settings;
  choice: Choice;
  shown: Shown | null = null;
  problem: Problem | null = null;
  busy = false;
  /** Whether the last request was for more comments. A retry then asks for more again. */
  more = false;
  /** The ids of comments added since the list was read. */
  readonly fresh = new Set<string>();
  /** The last answer shown at each address, for "Back". */
  readonly at = new Map<string, Shown>();
  /** How long the last answer took; null before the first. */
  #milliseconds: number | null = null;
  readonly #listener: Listener;
  #underWay = new AbortController();
  #written: { readonly change: Change; readonly until: number }[] = [];

  constructor(settings: Settings, choice: Choice, listener: Listener) {
    this.settings = settings;
    this.choice = choice;
    this.#listener = listener;
  }

  /**
   * Requests a choice. The old answer stays visible meanwhile. If the choice is the visible one,
   * the pages that "Load more" added are read again too.
   */
  async load(choice: Choice): Promise<void> {
    const below = choice === this.shown?.choice ? this.shown.more.length : 0;
    this.choice = choice;
    this.more = false;
    await this.#request(choice, async (answer, read) => {
      const more: List[] = [];
      for (
        let list = answer.data?.product?.list;
        list?.pageInfo.hasNextPage && more.length < below;
        list && more.push(list)
      ) {
        list = (await read(behind(choice, list.pageInfo.endCursor))).data?.product?.list;
      }
      this.show(answer, more);
    });
  }

  /** Shows the last answer of an address at once, and reads it again. */
  async back(choice: Choice): Promise<void> {
    const left = this.at.get(queryOf(choice));
    if (left) this.shown = this.#amended(left);
    await this.load(left?.choice ?? choice);
  }

  /** Requests the comments after the last visible one and appends them. */
  async loadMore(after: string): Promise<void> {
    if (!this.shown) return;
    this.choice = this.shown.choice; // drops a choice that was requested but not answered yet
    this.more = true;
    await this.#request(behind(this.choice, after), ({ data }) => {
      const list = data?.product?.list;
      const shown = this.shown; // includes what was written or voted meanwhile
      if (list && shown) {
        this.shown = this.#amended({
          ...shown,
          more: [...shown.more, list],
          milliseconds: this.#milliseconds,
        });
      }
    });
  }

  /**
   * The choice whose first page is the last visible one, which the address and the page numbers
   * show.
   */
  get place(): Choice {
    const { choice, shown } = this;
    if (!shown?.more.length || choice !== shown.choice) return choice;
    const { list } = shown.data.product as Product;
    return list?.pageNumber
      ? changed(choice, { page: list.pageNumber + shown.more.length })
      : behind(choice, [list, ...shown.more].at(-2)?.pageInfo.endCursor);
  }

  /** Applies a change to the visible answer, and to later ones until lists must include it. */
  amend(change: Change): void {
    this.fresh.delete(change.comment.id);
    // The service cannot know whose comment it is.
    const keeps = waits(change) && !this.settings.client.signedIn();
    // Otherwise an earlier edit would show a deleted comment again.
    const before = this.#written.filter(
      (other) => change.kind !== 'deleted' || other.change.comment.id !== change.comment.id,
    );
    this.#written = [...before, { change, until: keeps ? Infinity : performance.now() + lag }];
    if (!this.shown) return;
    this.shown = this.#amended(this.shown);
    this.#listener.changed();
  }

  /** Drops an answer that cannot be rendered, such as one that a proxy altered. */
  spoil(error: unknown): void {
    if (!this.shown) throw error;
    this.shown = null;
    this.problem = problemIn(error);
    this.#listener.failed(this.problem);
    this.#listener.changed();
  }

  /** Aborts the current request. */
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
      const variables = {
        ...asked,
        highlights: asked.highlights && this.settings.highlights(),
        ...(client.signedIn() && { voter: true, ...(isFirst(choice) && { own: true }) }),
      };
      const started = performance.now();
      const answer = await ask(client, operation, variables, signal);
      signal.throwIfAborted();
      this.#milliseconds = performance.now() - started;
      this.#listener.answered({
        plan: answer.data?.product?.list?.plan ?? null,
        variables,
        milliseconds: this.#milliseconds,
      });
      return answer;
    };
    this.busy = true;
    this.problem = null;
    this.#listener.changed();
    try {
      const answer = await read(choice);
      const isNobody =
        answer.data?.viewer?.cannotWriteReason === 'TOKEN_REFUSED' && client.visits();
      // The visitor's token was refused: continue without it.
      if (isNobody && forgetVisitor(client.service)) return await this.#request(choice, take);
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

  /** Takes an answer, such as the server's in the page. */
  show(answer: Answer, more: readonly List[] = []): void {
    this.problem = problemOf(answer, this.choice.page > 1);
    const product = answer.data?.product;
    if (!product) return;
    this.#written = this.#written.filter(
      ({ change }) => !waits(change) || !isKnown(product, change),
    );
    // The kept answers include another customer's own comments.
    if (answer.data.viewer?.customerId !== this.shown?.data.viewer?.customerId) this.at.clear();
    this.fresh.clear();
    this.shown = this.#amended({
      choice: this.choice,
      data: answer.data,
      more,
      milliseconds: this.#milliseconds,
    });
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

/** Returns the choice of the page after a cursor, in the same list. */
function behind(choice: Choice, after: string | null | undefined): Choice {
  return changed(choice, { after: after ?? '' });
}
