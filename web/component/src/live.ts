// How the element learns of comments that come while a list is open: a script of its own, which is loaded when a list is first in
// view. The stream is read by fetch and not by EventSource, which cannot tell a refusal from a lost connection.
import operation from './live.graphql';
import type { Session } from './session';
import { mostCounted } from './view';

/** What happened to a comment that the list has, or had. */
interface CommentEvent {
  readonly kind: 'ADDED' | 'CHANGED' | 'GONE';
  readonly commentId: string;
  readonly comment: { readonly author: { readonly customerId: string | null } } | null;
}

/** What is followed: the first list of a session, by variables of the operation. */
export interface Followed {
  readonly session: Session;
  readonly variables: object;
  draw(): void;
}

/** How long a list has to be in view before it is followed, and how long it is after it was, in milliseconds. */
const dwell = 3_000;
const linger = 10_000;

/** After how long without a sign of life a connection is given up; the service sends one every 15 seconds. */
const silence = 45_000;

/** The longest time between two changes of the number, in seconds: screen readers say each. */
const longestRest = 30;

/** The longest pause between two attempts is some four minutes. */
const mostDoublings = 6;

/** Errors after which the same may be asked again. A stream ends with them when the server stops. */
const passing = /^(UNAVAILABLE|TOO_SLOW|OVERLOADED|INTERNAL)$/;

/** The lists in view, the latest at the end: a page has one connection, and that one has it. */
let inView: Follower[] = [];
const all = new Set<Follower>();

/** Tells each list whether it may be followed. */
function settle(): void {
  const chosen = document.visibilityState === 'visible' ? inView.at(-1) : null;
  for (const one of all) one.want(one === chosen);
}

document.addEventListener('visibilitychange', settle);
// A page that is left with an open connection could not come back as it was.
window.addEventListener('pagehide', () => all.forEach((one) => one.close()));

/** Follows a list while it is in view on a visible page. */
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
  /** Where the stream goes on, "" for what happens from now on. */
  #position = '';

  constructor(private readonly followed: Followed) {}

  /** Names the element that has to be in view. */
  watch(list: Element): void {
    all.add(this);
    if (list === this.#watched) return;
    this.#observer.disconnect();
    this.#observer.observe((this.#watched = list));
  }

  /** Ends until something is to be watched again. */
  stop(): void {
    this.#observer.disconnect();
    this.#watched = null;
    this.want(false);
    this.close();
    all.delete(this);
    inView = inView.filter((other) => other !== this);
    settle();
  }

  /** Opens the connection if that stays wanted for a moment, or closes it if it stays unwanted. */
  want(wanted: boolean): void {
    if (wanted === this.#wanted) return;
    this.#wanted = wanted;
    clearTimeout(this.#timer);
    this.#timer = window.setTimeout(() => (wanted ? this.#open() : this.close()), wanted ? dwell : linger);
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

  /** Connects again after each end, with pauses that grow, until it is closed or refused. Not all pages come back at once. */
  async #follow({ signal }: AbortController): Promise<void> {
    for (;;) {
      await this.#read(signal).catch(() => {}); // lost: the browser's console has it
      if (signal.aborted || this.#refused) return;
      const pause = 1_000 * 2 ** Math.min(this.#failures++, mostDoublings) * (1 + 3 * Math.random());
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
        body: JSON.stringify({ query: operation, variables, ...(this.#position && { extensions: { position: this.#position } }) }),
        signal: AbortSignal.any([closed, lost.signal]),
      });
      const isStream = response.ok && response.headers.get('Content-Type')?.startsWith('text/event-stream');
      if (!isStream || !response.body) return await this.#judge(response);
      const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
      for (let text = '', chunks = 0; !this.#refused; chunks++) {
        const { value, done } = await reader.read();
        if (done) return;
        wait();
        const blocks = (text + value).split('\n\n');
        text = blocks.pop() ?? '';
        const events = blocks.flatMap((block) => this.#take(block));
        if (chunks > 0 || events.length > 0) this.#failures = 0; // the first one is sent by servers too that end the stream with the second
        this.#count(events);
      }
    } finally {
      clearTimeout(patience);
      lost.abort();
    }
  }

  /** Counts comments that others wrote and that are not on show. The more there are already, the later the number changes. */
  #count(events: readonly CommentEvent[]): void {
    const { session: { fresh, shown }, draw } = this.followed;
    const before = fresh.size;
    const me = shown?.data.viewer?.customerId;
    for (const { kind, commentId, comment } of events) {
      if (kind === 'GONE') fresh.delete(commentId);
      const isMine = me && comment?.author.customerId === me;
      if (kind === 'ADDED' && !isMine && !shown?.data.product?.list?.nodes.some(({ id }) => id === commentId)) fresh.add(commentId);
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

  /** Decides about an answer that is no stream. What a proxy says for a service that starts again is no refusal. */
  async #judge(response: Response): Promise<void> {
    const answer = await response.json().catch(() => null) as Said | null;
    const code = codeOf(answer);
    this.#refused = response.status < 500 || (code !== '' && !passing.test(code));
  }

  /** Takes a message of the stream, and returns the event in it. */
  #take(block: string): CommentEvent[] {
    this.#position = /^id: (.+)/m.exec(block)?.[1] ?? this.#position;
    const json = /^data: (.+)/m.exec(block)?.[1];
    if (!json) return [];
    const said = JSON.parse(json) as Said;
    const code = codeOf(said);
    if (code === 'BAD_INPUT' && this.#position) this.#position = ''; // too old: what happened since is not to be had
    else if (code) this.#refused = !passing.test(code);
    return said.data ? [said.data.commentEvents] : [];
  }
}

/** What the service says in a message. */
interface Said {
  readonly data?: { readonly commentEvents: CommentEvent } | null;
  readonly errors?: readonly { readonly extensions?: { readonly code?: string } }[];
}

function codeOf(said: Said | null): string {
  return said?.errors?.[0]?.extensions?.code ?? '';
}
