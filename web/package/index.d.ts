/** A token, or nothing if nobody is signed in. */
export type GivenToken = string | null | undefined;

/**
 * A token, or a function that returns one for each request. If the function throws, the reader is
 * asked to sign in again.
 */
export type Token = string | (() => GivenToken | Promise<GivenToken>);

/** Texts that replace the element's own, by the keys of strings.json. */
export type Strings = Readonly<Record<string, string>>;

/** The element <talkback-comments>. */
export interface TalkbackCommentsElement extends HTMLElement {
  /**
   * The token, sent with each request. Replacing one function by another sends no request; call
   * refresh() when the customer changes.
   */
  get token(): Token;
  set token(token: Token | null | undefined);
  /** The author's name for new comments. Without it, the form asks for one. */
  get customerName(): string;
  set customerName(name: string | null | undefined);
  /** The shop's own id of the product. */
  get product(): string;
  set product(product: string | null | undefined);
  /** The initial filter, such as rating=5&language=de. */
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
  /**
   * The address of the API. A script tag defaults to the origin of its script, a module to the
   * origin of the page.
   */
  'endpoint'?: string;
  'lang'?: string;
  'page-size'?: number | string;
  'order'?: 'oldest' | 'highest' | 'lowest' | 'helpful';
  'filter'?: string;
  'mode'?: 'more';
  'navigate'?: boolean | '';
  /** The parts to hide: histogram, highlights. Hidden highlights are not requested either. */
  'hide'?: string;
  /** Where the button to write is. Default: at the top and at the end. */
  'write-button'?: 'top' | 'end';
  /** Shows the number of comments that were added while the page is open. */
  'live'?: boolean | '';
  'explain'?: boolean | '';
  'customer-name'?: string;
  'strings'?: Strings | string;
}

/** A comment in an event. */
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

/** The element's events by name. They bubble and are composed. */
export interface TalkbackEvents {
  /** An answer arrived. */
  'talkback-answer': CustomEvent<{
    readonly plan: object | null;
    readonly variables: object;
    readonly milliseconds: number;
  }>;
  /** A request failed. */
  'talkback-error': CustomEvent<{
    readonly kind: TalkbackErrorKind;
    readonly retryAfter: number;
    readonly detail: string;
  }>;
  /** A comment was added, edited or deleted. */
  'talkback-written': CustomEvent<{
    readonly kind: 'added' | 'edited' | 'deleted';
    readonly comment: TalkbackComment;
  }>;
}

export type TalkbackErrorKind =
  | 'offline'
  | 'network'
  | 'slow'
  | 'busy'
  | 'limited'
  | 'unavailable'
  | 'numbers'
  | 'much'
  | 'unauthenticated'
  | 'forbidden'
  | 'refused';

/** The names that ::part() accepts. */
export type TalkbackPart =
  | 'root'
  | 'summary'
  | 'histogram'
  | 'bar'
  | 'filters'
  | 'chip'
  | 'highlights'
  | 'result'
  | 'list'
  | 'comment'
  | 'reply'
  | 'unfold'
  | 'votes'
  | 'media'
  | 'lightbox'
  | 'fresh'
  | 'empty'
  | 'error'
  | 'pages'
  | 'compose'
  | 'write'
  | 'plan';

declare global {
  interface HTMLElementTagNameMap {
    'talkback-comments': TalkbackCommentsElement;
  }
  interface GlobalEventHandlersEventMap extends TalkbackEvents {}
}
