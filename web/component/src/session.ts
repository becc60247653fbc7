// What a reader wants, what the service answered, and what is under way. Nothing here draws.
import { type Choice, isFirst } from './address';
import { type Answer, type Data, type List, operation, type Plan, variablesOf } from './answer';
import { ask, type Client, type Problem, problemIn, problemOf } from './client';
import { type Change, nodesWith, waits, withChange } from './desk';
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

/** The conversation with the service about one product. The latest wish wins. */
export class Session {
  shown: Shown | null = null;
  problem: Problem | null = null;
  busy = false;
  /** Whether the last request was for more, so that another attempt asks for the same. */
  more = false;
  /** The ids of comments that came to the list since it was read. */
  readonly fresh = new Set<string>();
  #underWay = new AbortController();
  #written: { readonly change: Change; readonly until: number }[] = [];

  constructor(readonly settings: Settings, public choice: Choice, private readonly listener: Listener) {}

  /** Takes an answer that came with the page. */
  adopt(answer: Answer): void {
    this.#show(answer, null);
  }

  /** Asks for a choice. What is shown stays until the answer is there. */
  async load(choice: Choice): Promise<void> {
    this.choice = choice;
    this.more = false;
    await this.#request(choice, (answer, milliseconds) => this.#show(answer, milliseconds));
  }

  /** Asks for the comments behind the last that is shown, and puts them below. In one long list, the address stays. */
  async loadMore(after: string, paged: boolean): Promise<void> {
    if (!this.shown) return;
    this.more = true;
    await this.#request({ ...this.shown.choice, page: 1, after, before: '' }, ({ data }, milliseconds) => {
      const list = data?.product?.list;
      const shown = this.shown; // what was written or voted meanwhile is in it
      if (!list || !shown) return;
      const nodes = this.#written.reduce((nodes, { change }) => nodesWith(nodes, change), list.nodes);
      this.shown = { ...shown, more: [...shown.more, { ...list, nodes }], milliseconds };
      if (!paged) return;
      // The address is that of the last page that is shown, as the numbers are.
      const first = shown.data.product?.list?.pageNumber ?? null;
      const place = first === null ? { page: 1, after, before: '' } : { page: first + this.shown.more.length, after: '', before: '' };
      this.choice = { ...this.choice, ...place };
    });
  }

  /** Shows a change that was written, in this answer and in those of the next moments. */
  amend(change: Change): void {
    this.fresh.delete(change.comment.id);
    const keeps = waits(change) && !this.settings.client.signedIn(); // the service does not know whose it is
    this.#written = [...this.#written, { change, until: keeps ? Infinity : performance.now() + lag }];
    if (!this.shown) return;
    const { data, choice, more } = this.shown;
    this.shown = {
      ...this.shown,
      data: this.#amended(data, choice),
      more: more.map((list) => ({ ...list, nodes: nodesWith(list.nodes, change) })),
    };
    this.listener.changed();
  }

  /** Forgets an answer that cannot be drawn, such as what something between here and the service made of it. */
  spoil(error: unknown): void {
    if (!this.shown) throw error;
    this.shown = null;
    this.problem = problemIn(error);
    this.listener.failed(this.problem);
    this.listener.changed();
  }

  /** Gives up what is under way. */
  stop(): void {
    this.#underWay.abort();
    this.busy = false;
  }

  async #request(choice: Choice, take: (answer: Answer, milliseconds: number) => void): Promise<void> {
    this.#underWay.abort();
    const { signal } = (this.#underWay = new AbortController());
    const { product, pageSize, client } = this.settings;
    const asked = variablesOf(product, choice, pageSize);
    const variables = { ...asked, highlights: asked.highlights && this.settings.highlights(), ...(client.signedIn() && { voter: true, ...(isFirst(choice) && { own: true }) }) };
    this.busy = true;
    this.problem = null;
    this.listener.changed();
    const started = performance.now();
    try {
      const answer = await ask(client, operation, variables, signal);
      if (signal.aborted) return;
      const milliseconds = performance.now() - started;
      const isNobody = answer.data?.viewer?.cannotWriteReason === 'TOKEN_REFUSED' && client.visits();
      if (isNobody && forgetVisitor(client.endpoint)) return await this.#request(choice, take); // visitors vote no longer
      this.problem = problemOf(answer, choice.page > 1);
      take(answer, milliseconds);
      this.listener.answered({ plan: planOf(answer.data?.product?.list), variables, milliseconds });
    } catch (error) {
      if (signal.aborted) return;
      this.problem = problemIn(error);
    }
    this.busy = false;
    if (this.problem) this.listener.failed(this.problem);
    this.listener.changed();
  }

  #show({ data, errors }: Answer, milliseconds: number | null): void {
    this.problem = problemOf({ data, errors }, this.choice.page > 1);
    if (!data?.product) return;
    this.fresh.clear();
    this.shown = { choice: this.choice, data: this.#amended(data, this.choice), more: [], milliseconds };
  }

  #amended(data: Data, choice: Choice): Data {
    this.#written = this.#written.filter(({ until }) => until > performance.now());
    return this.#written.reduce((amended, { change }) => withChange(amended, choice, change), data);
  }
}

function planOf(list: List | null | undefined): Plan | null {
  return list?.plan ?? null;
}

