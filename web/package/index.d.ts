/** A token, or none if nobody is signed in. */
export type GivenToken = string | null | undefined;

/** A token, or a function that returns one for each request. A function that throws asks its reader to sign in again. */
export type Token = string | (() => GivenToken | Promise<GivenToken>);

/** Texts in place of the element's own, by the keys of strings.json. */
export type Strings = Readonly<Record<string, string>>;

/** The element <talkback-comments>. */
export interface TalkbackCommentsElement extends HTMLElement {
  /** Sent with each request. A function in place of another asks nothing; call refresh() when the customer changes. */
  get token(): Token;
  set token(token: Token | null | undefined);
  /** The name that new comments have; without it, the form asks for one. */
  get customerName(): string;
  set customerName(name: string | null | undefined);
  /** The shop's own id of the product. */
  get product(): string;
  set product(product: string | null | undefined);
  /** The comments to begin with, such as rating=5&language=de. */
  get filter(): string;
  set filter(filter: string | null | undefined);
  get strings(): Strings;
  set strings(strings: Strings | string | null | undefined);
  /** Reads the comments again, such as after the customer signed in. */
  refresh(): Promise<void>;
}

/** The class of the element; undefined where there is no document. */
export const TalkbackComments: (new () => TalkbackCommentsElement) | undefined;

/** The attributes of the element. */
export interface TalkbackCommentsAttributes {
  'product'?: string;
  /** Address of the API. A module does not know where the service is. */
  'endpoint'?: string;
  'lang'?: string;
  'page-size'?: number | string;
  'order'?: 'oldest' | 'highest' | 'lowest' | 'helpful';
  'filter'?: string;
  'mode'?: 'more';
  'navigate'?: boolean | '';
  /** Parts that are not shown, and highlights not asked for: histogram, highlights. */
  'hide'?: string;
  /** Where the button to write is, if not in both places. */
  'write-button'?: 'top' | 'end';
  /** Tells how many comments came while the page is open. */
  'live'?: boolean | '';
  'explain'?: boolean | '';
  'customer-name'?: string;
  'strings'?: Strings | string;
}

/** A comment as the element shows it. */
export interface TalkbackComment {
  readonly id: string;
  readonly rating: number;
  readonly language: string;
  readonly title: string | null;
  readonly text: string;
  readonly author: { readonly customerId: string | null; readonly name: string };
  readonly createdAt: string;
  readonly updatedAt: string | null;
  readonly version: number;
}

/** The events of the element by name. They bubble, and leave the shadow root. */
export interface TalkbackEvents {
  /** An answer came. */
  'talkback-answer': CustomEvent<{ readonly plan: object | null; readonly variables: object; readonly milliseconds: number }>;
  /** None came. */
  'talkback-error': CustomEvent<{ readonly kind: TalkbackErrorKind; readonly retryAfter: number; readonly detail: string }>;
  /** A comment was added, edited or deleted. */
  'talkback-written': CustomEvent<{ readonly kind: 'added' | 'edited' | 'deleted'; readonly comment: TalkbackComment }>;
}

export type TalkbackErrorKind =
  | 'offline' | 'network' | 'slow' | 'busy' | 'limited' | 'unavailable' | 'numbers' | 'much' | 'unauthenticated' | 'forbidden' | 'refused';

/** What ::part() of the element may name. */
export type TalkbackPart =
  | 'root' | 'summary' | 'histogram' | 'bar' | 'filters' | 'chip' | 'highlights' | 'result' | 'list' | 'comment' | 'reply' | 'unfold'
  | 'votes' | 'media' | 'lightbox' | 'fresh' | 'empty' | 'error' | 'pages' | 'compose' | 'write' | 'plan';

declare global {
  interface HTMLElementTagNameMap {
    'talkback-comments': TalkbackCommentsElement;
  }
  interface GlobalEventHandlersEventMap extends TalkbackEvents {}
}
