import { hydrate, render } from 'preact';
import {
  changed,
  type Choice,
  everything,
  foreignQuery,
  orderOf,
  parseChoice,
  queryOf,
} from './address';
import type { Answer } from './answer';
import sheet from './component.css';
import { recounted } from './counts';
import { type Desk, waits, type Written } from './desk';
import { visitorToken } from './forms/visitor';
import { writesBeside } from './focus';
import { Following } from './following';
import { loadInside } from './inside';
import { Session } from './session';
import { baseOf, load, type Strings, stringsOf, Texts } from './texts';
import { linkTo, listOf, type Mode, type View } from './view';
import { Body, Skeleton } from './views/body';
import { isModified } from './views/media';

/** The state that the server adds to the markup it rendered: the answer that the markup shows. */
interface ServerState {
  readonly locale: string;
  readonly query: string;
  readonly answer: Answer;
}

/** A token, or nothing if nobody is signed in. */
type Given = string | null | undefined;

/** A token, or a function that returns one for each request. */
type Token = string | (() => Given | Promise<Given>);

/**
 * The effect of a change: a new session, a new choice, the same request again, or only a render.
 */
type Need = 'begin' | 'choose' | 'ask' | 'draw';

/** The effect of each attribute. */
const needs: Readonly<Record<string, Need>> = {
  product: 'begin',
  endpoint: 'begin',
  lang: 'begin',
  'page-size': 'begin',
  order: 'choose',
  filter: 'choose',
  hide: 'ask',
  explain: 'draw',
  live: 'draw',
  mode: 'draw',
  'customer-name': 'draw',
  strings: 'draw',
};

/** Properties that a page may have set before the element was defined. */
const accessors = ['token', 'customerName', 'product', 'filter', 'strings'] as const;

/** Node has no HTMLElement. There the class can be imported but is never used. */
const Base = globalThis.HTMLElement ?? class {};

/** The address of the script, which is the default address of the service. It is "" in a module. */
const scriptAddress = (globalThis.document?.currentScript as HTMLScriptElement | null)?.src ?? '';

/** The element that the address of the page belongs to. */
let owner: TalkbackComments | undefined;

let shared: CSSStyleSheet | undefined;

/** Returns the style sheet shared by all elements that the server did not render. */
function styles(): CSSStyleSheet {
  if (!shared) {
    shared = new CSSStyleSheet();
    shared.replaceSync(sheet);
  }
  return shared;
}

/** The element <talkback-comments>. docs/guide/component.md describes it for pages. */
export class TalkbackComments extends Base {
  static readonly observedAttributes = Object.keys(needs);

  #root: HTMLElement | undefined;
  #session: Session | undefined;
  #texts = new Texts('en');
  /** Whether rendering waits for the texts of the language. */
  #mute = false;
  #tag = 'en';
  #desk: Desk | null = null;
  #said = '';
  #interrupted = false;
  #enhanced = false;
  #token: Token = '';
  #needs = new Set<Need>();
  /** The choice that the form fields show. */
  #chosen: Choice | undefined;
  #following = new Following(() => this.#draw());

  /**
   * The token, sent with each request as Authorization: Bearer. It is never stored. Replacing one
   * function by another sends no request, since frameworks create a new function for each render.
   * The next request calls it.
   */
  get token(): Token {
    return this.#token;
  }

  set token(token: Token | null | undefined) {
    const before = this.#token;
    this.#token = token || '';
    if (before !== this.#token && !(typeof before === 'function' && typeof token === 'function')) {
      this.#change('ask');
    }
  }

  /** The author's name that forms start with. */
  get customerName(): string {
    return this.getAttribute('customer-name') ?? '';
  }

  set customerName(name: string | null | undefined) {
    this.#reflect('customer-name', name);
  }

  /** The shop's own id of the product. */
  get product(): string {
    return this.getAttribute('product') ?? '';
  }

  set product(product: string | null | undefined) {
    this.#reflect('product', product);
  }

  /** The initial filter, in the form of an address: rating=5&language=de. */
  get filter(): string {
    return this.getAttribute('filter') ?? '';
  }

  set filter(filter: string | null | undefined) {
    this.#reflect('filter', filter);
  }

  /** Texts that replace the element's own. A string is read as JSON. */
  get strings(): Strings {
    return stringsOf(this.getAttribute('strings'));
  }

  set strings(strings: Strings | string | null | undefined) {
    this.#reflect(
      'strings',
      typeof strings === 'object' && strings ? JSON.stringify(strings) : strings,
    );
  }

  connectedCallback(): void {
    for (const name of accessors) this.#upgrade(name);
    window.addEventListener('popstate', this.#onPopState);
    window.addEventListener('online', this.#onOnline);
    if (this.#session) { // the element was moved within the page
      for (const dialog of this.#root?.querySelectorAll('dialog') ?? []) {
        dialog.open = false; // it still has the attribute, but left the top layer when it was moved
        dialog.showModal();
      }
      if (this.#interrupted) this.#retry();
      this.#onPopState(); // the address may have changed meanwhile
      return this.#draw(); // links may need another path
    }
    const state = this.#serverState();
    const drawn = this.shadowRoot?.querySelector<HTMLElement>('.root') ?? null;
    if (state) this.#adopt(state, drawn);
    else this.#begin();
    if (this.hasAttribute('navigate') && !this.#navigates) {
      console.warn('<talkback-comments navigate>: the first one has the address');
    }
  }

  disconnectedCallback(): void {
    window.removeEventListener('popstate', this.#onPopState);
    window.removeEventListener('online', this.#onOnline);
    this.#interrupted = this.#session?.busy ?? false;
    this.#session?.stop();
    this.#follow();
  }

  attributeChangedCallback(name: string, before: string | null, after: string | null): void {
    if (before !== after) this.#change(needs[name] as Need);
  }

  /** Reads the comments again, such as after the customer signed in. */
  async refresh(): Promise<void> {
    this.#needs.delete('ask');
    if (this.#session && this.product) await this.#session.load(this.#session.choice);
  }

  /**
   * Applies a property that was set before the element was defined. Such a property hides the
   * accessor.
   */
  #upgrade<Name extends (typeof accessors)[number]>(name: Name): void {
    if (!Object.hasOwn(this, name)) return;
    const value = this[name];
    delete (this as Partial<this>)[name];
    this[name] = value;
  }

  #reflect(attribute: string, value: string | null | undefined): void {
    if (value === null || value === undefined) this.removeAttribute(attribute);
    else this.setAttribute(attribute, value);
  }

  /** Schedules the effect of a change. Changes made in one task share one request. */
  #change(need: Need): void {
    if (!this.#session) return; // connectedCallback reads all attributes
    if (this.#needs.size === 0) queueMicrotask(() => this.#settle());
    this.#needs.add(need);
  }

  #settle(): void {
    const changes = this.#needs;
    const session = this.#session as Session;
    this.#needs = new Set();
    if (changes.has('begin')) return this.#begin();
    if (changes.has('draw')) this.#texts = this.#newTexts();
    if (changes.has('choose') && this.product && !this.#navigates) {
      void session.load(this.#firstChoice);
    } else if (changes.has('ask')) {
      void this.refresh();
    } else if (changes.has('draw')) {
      this.#draw();
    }
  }

  #newTexts(): Texts {
    return new Texts(this.#tag, this.strings);
  }

  /** Takes over the server's markup: keeps its nodes and sends no request. */
  #adopt(state: ServerState, drawn: HTMLElement | null): void {
    this.#session = this.#newSession((this.#chosen = parseChoice(state.query)));
    this.#session.show(state.answer);
    const { shown } = this.#session;
    this.#speak(state.locale, () => {
      // The page may have requested something else meanwhile.
      const isSame = shown === this.#session?.shown && !this.#session.busy;
      this.#listen((this.#root = drawn && isSame ? drawn : this.#newRoot()));
      if (this.#root === drawn) hydrate(<Body view={this.#view()} />, drawn);
      else this.#draw();
      this.#enhanced = true;
      this.#onToggle();
      if (!drawn) this.#onPopState(); // a cached copy may belong to an earlier address
      this.#change('draw'); // the server rendered for anonymous readers and with the default texts
      if (this.#desk?.client.signedIn()) this.#change('ask');
    });
  }

  /** Starts a new session with a request. */
  #begin(): void {
    this.#session?.stop();
    this.#session = this.#newSession(
      this.#navigates ? parseChoice(location.search) : this.#firstChoice,
    );
    if (!this.#root) {
      this.#root = this.#newRoot();
      this.#listen(this.#root);
    }
    this.#enhanced = true;
    this.#speak(this.#language, () => {
      this.#texts = this.#newTexts();
      this.#draw();
    });
    if (this.product) this.#change('ask');
    else console.info('<talkback-comments> waits for product="42"'); // the page may set it later
  }

  /** Switches to a language. Unless its texts are loaded, rendering waits for them. */
  #speak(tag: string, ready: () => void): void {
    const session = this.#session;
    this.#tag = tag;
    const done = () => {
      if (session !== this.#session) return;
      this.#texts = new Texts(tag);
      this.#mute = false;
      ready();
    };
    const coming = load(tag, this.#folder);
    this.#mute = coming !== null;
    if (!coming) return done();
    if (this.#root && !this.#root.hasChildNodes()) render(<Skeleton />, this.#root);
    void coming.then(done);
  }

  #newSession(choice: Choice): Session {
    const product = this.product;
    const service = this.#endpoint;
    let own = '';
    const client = {
      service,
      visits: () => !(typeof this.#token === 'function' ? own : this.#token),
      signedIn: () => !!(this.#token || visitorToken(service)),
      token: async () => {
        try {
          own = (typeof this.#token === 'function' ? await this.#token() : this.#token) || '';
        } catch (error) {
          console.warn(error);
          // No valid token, and not a visitor's: the service answers as to an anonymous reader.
          own = ' ';
        }
        return own || visitorToken(service);
      },
    };
    const desk: Desk = (this.#desk = {
      product,
      client,
      language: baseOf(this.#language),
      languages: () => [
        ...new Set([
          desk.language,
          ...(this.#session?.shown?.data.product?.languages ?? []).map(({ language }) => language),
        ]),
      ],
      customerName: () => this.customerName.trim(), // a blank name counts as none
      written: (change, leads) => this.#written(desk, change, leads),
      seen: (change) => this.#session?.amend(change),
    });
    const highlights = () => !this.getAttribute('hide')?.includes('highlights');
    return new Session({ product, pageSize: this.#pageSize, client, highlights }, choice, {
      changed: () => {
        this.#keepAddress();
        this.#draw();
      },
      answered: (detail) => this.#tell('talkback-answer', detail),
      failed: (problem) => {
        console.warn(`<talkback-comments>: ${problem.detail}`);
        this.#tell('talkback-error', problem);
      },
    });
  }

  /**
   * Shows a change, announces it and moves the focus to it. A new comment is on the first page. A
   * reader who is editing another comment is not taken there. If the element shows another product
   * by now, or has left the page, only the event is sent.
   */
  #written(desk: Desk, change: Written, leads: boolean): void {
    const { kind, comment } = change;
    if (desk !== this.#desk || !this.isConnected) return this.#tell('talkback-written', change);
    this.#said = this.#texts.say(waits(change) ? 'write.waits' : `write.${kind}`);
    this.#session?.amend(change);
    this.#tell('talkback-written', change);
    const done = kind === 'added' && leads ? this.#go(everything, false) : this.refresh();
    void done.then(() =>
      this.#lead(
        kind === 'deleted'
          ? '.list, .empty'
          : waits(change)
            ? '[class~="own.waits"]'
            : `[id="${comment.id}"]`,
      )?.scrollIntoView({ block: 'nearest' }),
    );
  }

  #newRoot(): HTMLElement {
    const shadow = this.shadowRoot ?? this.attachShadow({ mode: 'open' });
    shadow.adoptedStyleSheets = [styles()];
    const root = document.createElement('div');
    root.className = 'root';
    root.part.add('root');
    shadow.replaceChildren(root);
    return root;
  }

  #view(): View {
    const session = this.#session as Session;
    return {
      path: this.#path,
      foreign: this.#foreign,
      texts: this.#texts,
      pageSize: this.#pageSize,
      choice: session.choice,
      shown: session.shown && recounted(session.shown, this.#pageSize),
      problem: session.problem,
      busy: session.busy,
      more: session.more,
      explain: this.hasAttribute('explain'),
      mode: this.#mode,
      desk: this.#enhanced ? this.#desk : null,
      fresh: this.#enhanced && this.hasAttribute('live') ? session.fresh.size : null,
      said: this.#said,
    };
  }

  #draw(): void {
    const root = this.#root;
    if (!root || this.#mute) return;
    const focused = this.shadowRoot?.activeElement ?? null;
    let view: View;
    try {
      view = this.#view();
      root.lang = view.texts.locale;
      root.dir = view.texts.dir;
      root.ariaBusy = String(view.busy);
      render(<Body view={view} />, root);
    } catch (error) { // Preact cannot render again into a tree that it left half-rendered
      this.#listen((this.#root = this.#newRoot()));
      return this.#session?.spoil(error);
    }
    // Resets the fields to the new choice. Input typed after this point stays when the answer
    // arrives. A field of the host page may be named "reset", hence the call through the prototype.
    if (view.choice !== this.#chosen) {
      root
        .querySelectorAll<HTMLFormElement>('form[method=get]')
        .forEach((form) => HTMLFormElement.prototype.reset.call(form));
    }
    this.#chosen = view.choice;
    // The focused node may be gone or folded away, such as "Clear filters". The focus then moves to
    // the result.
    if (focused && !this.shadowRoot?.activeElement?.checkVisibility()) {
      this.#focus('.result, .error, .empty');
    }
    this.#follow();
  }

  /** Follows the visible list, if the page asks for live updates and the element is connected. */
  #follow(): void {
    const lists =
      this.isConnected && this.hasAttribute('live') ? '.list:not(.skeleton), .empty' : null;
    if (this.#session) {
      this.#following.follow(
        lists && (this.#root?.querySelector(lists) ?? null),
        this.#session,
        this.#folder,
      );
    }
  }

  /** Moves the focus to the new content, unless the reader is typing or answering a dialog. */
  #lead(selector: string): HTMLElement | null {
    return writesBeside(this.#root?.querySelector('.pages') ?? null) ? null : this.#focus(selector);
  }

  #focus(selector: string): HTMLElement | null {
    const target = this.#root?.querySelector<HTMLElement>(selector) ?? null;
    if (target) {
      target.tabIndex = -1;
      target.focus({ preventScroll: true });
    }
    return target;
  }

  #listen(root: HTMLElement): void {
    root.addEventListener('click', this.#onClick);
    root.addEventListener('submit', this.#onSubmit);
    // Toggle does not bubble, so listen in the capture phase.
    root.addEventListener('toggle', this.#onToggle, true);
  }

  // Links and forms work without this script. With it, the element handles them, except those that
  // the page put into its slot.
  #onClick = (event: MouseEvent): void => {
    const target = event.target as Element;
    if (!this.#root?.contains(target)) return;
    if (target.closest('button.more')) void this.#more();
    if (target.closest('.compose button')) return this.#compose();
    const link = target.closest('a');
    const href = link?.getAttribute('href') ?? null;
    if (!link || href === null || event.button !== 0 || isModified(event)) return;
    const [path, query = ''] = href.split('?');
    if (path !== this.#path && !href.startsWith('?')) return;
    event.preventDefault();
    // A double click on a filter counts as one.
    if (event.detail > 1 && link.rel === 'nofollow') return;
    this.#said = '';
    if (link.matches('.more')) return void this.#more();
    void this.#go(parseChoice(query), link.closest('.pages, .fresh') !== null);
  };

  /**
   * Loads the content of the plan drawer when it is open. It may have been opened before the script
   * ran.
   */
  #onToggle = (): void => {
    const shadow = this.shadowRoot;
    if (shadow?.querySelector('.plan[open]')) {
      void loadInside(this.#folder, shadow).then(() => this.#draw());
    }
  };

  /** Opens the form, or moves the focus to the open form, or to the hint how to sign in. */
  #compose(): void {
    this.#said = '';
    this.#draw();
    const opens = this.#root?.querySelector<HTMLElement>('.write > button');
    if (opens) {
      opens.click();
    } else {
      this.#focus('.write [name=rating], .write:not(:has(form))')?.scrollIntoView({
        block: 'nearest',
      });
    }
  }

  #onSubmit = (event: SubmitEvent): void => {
    const form = event.target as HTMLFormElement;
    // Not form.method: a field of the host page may be named "method".
    if (!this.#root?.contains(form) || form.getAttribute('method') !== 'get') return;
    event.preventDefault();
    // The form has no file fields, so all values are strings.
    const query = new URLSearchParams(new FormData(form) as never);
    void this.#go(parseChoice(query.toString()), form.closest('.pages') !== null);
  };

  #onPopState = (): void => {
    const choice = parseChoice(location.search);
    if (!this.#navigates || !this.#session || queryOf(choice) === queryOf(this.#place)) return;
    void this.#session.back(choice);
  };

  #onOnline = (): void => {
    if (this.#session?.problem?.kind === 'offline') this.#retry();
  };

  /** Shows a choice. After a page turn, scrolls to the top of the list. */
  async #go(choice: Choice, turnsPage: boolean): Promise<void> {
    const session = this.#session as Session;
    if (this.#navigates && queryOf(choice) !== queryOf(this.#place)) {
      history.pushState(null, '', this.#addressOf(choice));
    }
    await session.load(choice);
    // Superseded by a later choice.
    if (session !== this.#session || session.choice !== choice) return;
    if (turnsPage && !session.problem && this.#lead('.list, .empty')) {
      this.#root?.querySelector('.result, .list, .empty')?.scrollIntoView({ block: 'start' });
    }
  }

  /** The choice that the address names: the last visible page, or in mode "more" the first. */
  get #place(): Choice {
    const session = this.#session as Session;
    return this.#mode === 'more' ? session.choice : session.place;
  }

  /** Keeps the address in step with the last visible page, such as after "Load more". */
  #keepAddress(): void {
    const choice = this.#place;
    const { at, choice: wanted, shown } = this.#session as Session;
    if (shown?.choice === wanted) at.set(queryOf(choice), shown);
    if (!this.#navigates || queryOf(choice) === queryOf(parseChoice(location.search))) return;
    // Keeps the state, which the page's own scripts may need.
    history.replaceState(history.state, '', this.#addressOf(choice));
  }

  /** Returns the address of a choice, with the hash of the current one. */
  #addressOf(choice: Choice): string {
    const link = linkTo(this.#view(), choice);
    return (link.startsWith('?') ? this.#path + link : link) + location.hash;
  }

  /** Loads more comments and moves the focus to the first of them. */
  async #more(): Promise<void> {
    const list = listOf(this.#view());
    if (!list?.pageInfo.endCursor) return;
    await this.#session?.loadMore(list.pageInfo.endCursor);
    this.#lead(`.list > :nth-child(${list.nodes.length + 1})`);
  }

  #retry(): void {
    void (this.#session?.more ? this.#more() : this.refresh());
  }

  #tell(name: string, detail: unknown): void {
    this.dispatchEvent(new CustomEvent(name, { detail, bubbles: true, composed: true }));
  }

  #serverState(): ServerState | null {
    const text = this.querySelector(':scope > script.talkback-state')?.textContent;
    if (!text) return null;
    try {
      const state = JSON.parse(text) as ServerState;
      return {
        ...state,
        answer: { data: state.answer.data ?? null, errors: state.answer.errors ?? [] },
      };
    } catch {
      return null;
    }
  }

  /**
   * The path of the page. As a link, two slashes at its beginning would name another host. With a
   * <base> elsewhere, as in Angular, it is the whole address. The server renders for pages without
   * <base>.
   */
  get #path(): string {
    const { origin, pathname } = location;
    return this.#enhanced && document.baseURI !== document.URL
      ? origin + pathname
      : pathname.replace(/^\/\//, '/.//');
  }

  /**
   * The host page's own part of the query. The server's links leave it out, except for an id that
   * cannot be part of a path.
   */
  get #foreign(): string {
    if (!this.#enhanced) return /^\.\.?$/.test(this.product) ? `id=${this.product}` : '';
    return this.hasAttribute('navigate') ? foreignQuery(location.search) : '';
  }

  /**
   * The address of the API. An invalid one becomes an address that cannot be reached and that names
   * the invalid text.
   */
  get #endpoint(): string {
    const given = this.getAttribute('endpoint');
    const [address, base] =
      given === null ? ['/graphql', scriptAddress || document.baseURI] : [given, document.baseURI];
    return new URL(URL.canParse(address, base) ? address : `about:invalid#${address}`, base).href;
  }

  /** The folder of the language texts and of the scripts that are loaded later. */
  get #folder(): URL {
    return new URL('talkback/', scriptAddress || this.#endpoint);
  }

  /**
   * The language of the closest element with a lang attribute, also outside of shadow roots. Many
   * shops write de_DE.
   */
  get #language(): string {
    let at: Element = this;
    for (let root; !at.closest('[lang]') && (root = at.getRootNode()) instanceof ShadowRoot;) {
      at = root.host;
    }
    return (at.closest('[lang]')?.getAttribute('lang') || navigator.language).replaceAll('_', '-');
  }

  get #mode(): Mode {
    return this.getAttribute('mode') === 'more' ? 'more' : 'pages';
  }

  get #pageSize(): number {
    const size = Number(this.getAttribute('page-size'));
    return Number.isInteger(size) && size >= 1 && size <= 100 ? size : 20;
  }

  get #firstChoice(): Choice {
    return changed(parseChoice(this.filter), { order: orderOf(this.getAttribute('order')) });
  }

  /**
   * Whether this element owns the address of the page. The first connected element with `navigate`
   * owns it.
   */
  get #navigates(): boolean {
    if (!this.isConnected || !this.hasAttribute('navigate')) return false;
    if (!owner?.hasAttribute('navigate') || !owner.isConnected) owner = this;
    return owner === this;
  }
}

