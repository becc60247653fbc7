// The live connection, which reports comments added while a list is open. It is a separate script,
// loaded when a list is first in view. It uses fetch: EventSource cannot tell a refusal from a lost
// connection.
import operation from './live.graphql';
import type { Session } from './session';
import { mostCounted } from './view';

/** An event about a comment that the list has, or had. */
interface CommentEvent {
  readonly kind: 'ADDED' | 'CHANGED' | 'GONE';
  readonly commentId: string;
  readonly comment: { readonly author: { readonly customerId: string | null } } | null;
}

/** The list to follow, as variables of the subscription. */
export interface Followed {
  readonly session: Session;
  readonly variables: object;
  draw(): void;
}

/**
 * How long a list must be in view before it is followed, and how long after that it is still
 * followed, in milliseconds.
 */
const dwell = 3_000;
const linger = 10_000;

/**
 * A connection is closed after this time without data. The service sends a heartbeat every 15
 * seconds.
 */
const silence = 45_000;

/**
 * The longest time between two changes of the number, in seconds. Screen readers announce each
 * change.
 */
const longestRest = 30;

/** Limits the pause between two attempts to some four minutes. */
const mostDoublings = 6;

/** Transient errors. A server that stops ends its streams with one of them. */
const passing = /^(UNAVAILABLE|TOO_SLOW|OVERLOADED|INTERNAL)$/;

/** The lists in view, the latest last. A page has one connection, which follows the latest. */
let inView: Follower[] = [];
const all = new Set<Follower>();

/** Tells each follower whether it may connect. */
function settle(): void {
  const chosen = document.visibilityState === 'visible' ? inView.at(-1) : null;
  for (const one of all) one.want(one === chosen);
}

document.addEventListener('visibilitychange', settle);
// The browser cannot keep a page with an open connection for "Back".
window.addEventListener('pagehide', () => all.forEach((one) => one.close()));

/** Follows a list while it is in view and the page is visible. */
export class Follower {
  #observer = new IntersectionObserver(([entry]) => {
    inView = inView.filter((other) => other !== this);
    if (entry?.isIntersecting) inView.push(this);
    settle();
  });
  #watched: Element | null = null;
  #wanted = false;
  #timer = 0;
  #drawing = 0;
  #connection: AbortController | null = null;
  #refused = false;
  #failures = 0;
  /** The position to resume the stream at, or "" to start with the next event. */
  #position = '';

  constructor(private readonly followed: Followed) {}

  /** Sets the element that must be in view. */
  watch(list: Element): void {
    all.add(this);
    if (list === this.#watched) return;
    this.#observer.disconnect();
    this.#observer.observe((this.#watched = list));
  }

  /** Stops following until the next call of watch. */
  stop(): void {
    this.#observer.disconnect();
    this.#watched = null;
    this.want(false);
    this.close();
    all.delete(this);
    inView = inView.filter((other) => other !== this);
    settle();
  }

  /** Opens the connection after a delay, or closes it after one, unless `wanted` changes back. */
  want(wanted: boolean): void {
    if (wanted === this.#wanted) return;
    this.#wanted = wanted;
    clearTimeout(this.#timer);
    this.#timer = window.setTimeout(
      () => (wanted ? this.#open() : this.close()),
      wanted ? dwell : linger,
    );
  }

  close(): void {
    this.#connection?.abort();
    this.#connection = null;
  }

  #open(): void {
    for (const other of all) if (other !== this) other.close();
    if (this.#connection || this.#refused) return;
    this.#connection = new AbortController();
    void this.#follow(this.#connection);
  }

  /**
   * Reconnects with growing random pauses, until it is closed or refused. The randomness spreads
   * the load after a restart of the server.
   */
  async #follow({ signal }: AbortController): Promise<void> {
    for (;;) {
      await this.#read(signal).catch(() => {}); // connection lost; the browser's console shows it
      if (signal.aborted || this.#refused) return;
      const pause =
        1_000 * 2 ** Math.min(this.#failures++, mostDoublings) * (1 + 3 * Math.random());
      await new Promise((resolve) => setTimeout(resolve, pause));
      if (signal.aborted) return;
    }
  }

  async #read(closed: AbortSignal): Promise<void> {
    const { variables, session: { settings: { client: { service } } } } = this.followed;
    const lost = new AbortController();
    let patience = 0;
    const wait = () => {
      clearTimeout(patience);
      patience = window.setTimeout(() => lost.abort(), silence);
    };
    wait();
    try {
      const response = await fetch(service, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', Accept: 'text/event-stream' },
        body: JSON.stringify({
          query: operation,
          variables,
          ...(this.#position && { extensions: { position: this.#position } }),
        }),
        signal: AbortSignal.any([closed, lost.signal]),
      });
      const isStream =
        response.ok && response.headers.get('Content-Type')?.startsWith('text/event-stream');
      if (!isStream || !response.body) return await this.#judge(response);
      const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
      for (let text = '', chunks = 0; !this.#refused; chunks++) {
        const { value, done } = await reader.read();
        if (done) return;
        wait();
        const blocks = (text + value).split('\n\n');
        text = blocks.pop() ?? '';
        const events = blocks.flatMap((block) => this.#take(block));
        // The first chunk proves nothing: a stopping server may send one and then end the stream.
        if (chunks > 0 || events.length > 0) this.#failures = 0;
        this.#count(events);
      }
    } finally {
      clearTimeout(patience);
      lost.abort();
    }
  }

  /**
   * Counts comments of other authors that are not visible yet. The higher the count, the more
   * rarely it changes.
   */
  #count(events: readonly CommentEvent[]): void {
    const { session: { fresh, shown }, draw } = this.followed;
    const before = fresh.size;
    const me = shown?.data.viewer?.customerId;
    for (const { kind, commentId, comment } of events) {
      if (kind === 'GONE') fresh.delete(commentId);
      const isMine = me && comment?.author.customerId === me;
      if (
        kind === 'ADDED' &&
        !isMine &&
        !shown?.data.product?.list?.nodes.some(({ id }) => id === commentId)
      )
        fresh.add(commentId);
    }
    if (fresh.size === before) return;
    const rest = fresh.size < mostCounted ? Math.min(before, longestRest) : 0;
    if (rest === 0) clearTimeout(this.#drawing);
    else if (this.#drawing) return;
    this.#drawing = window.setTimeout(() => {
      this.#drawing = 0;
      draw();
    }, rest * 1_000);
  }

  /**
   * Decides after an answer that is no stream whether to retry. A proxy's error while the service
   * restarts is no refusal.
   */
  async #judge(response: Response): Promise<void> {
    const answer = await response.json().catch(() => null) as Said | null;
    const code = codeOf(answer);
    this.#refused = response.status < 500 || (code !== '' && !passing.test(code));
  }

  /** Reads a message of the stream and returns its event, if it has one. */
  #take(block: string): CommentEvent[] {
    this.#position = /^id: (.+)/m.exec(block)?.[1] ?? this.#position;
    const json = /^data: (.+)/m.exec(block)?.[1];
    if (!json) return [];
    const said = JSON.parse(json) as Said;
    const code = codeOf(said);
    // The position is too old; the events since then are lost.
    if (code === 'BAD_INPUT' && this.#position) this.#position = '';
    else if (code) this.#refused = !passing.test(code);
    return said.data ? [said.data.commentEvents] : [];
  }
}

/** The payload of a message. */
interface Said {
  readonly data?: { readonly commentEvents: CommentEvent } | null;
  readonly errors?: readonly { readonly extensions?: { readonly code?: string } }[];
}

function codeOf(said: Said | null): string {
  return said?.errors?.[0]?.extensions?.code ?? '';
}
