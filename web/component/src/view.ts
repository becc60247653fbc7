// The state to render. Every component is a function of it.
import { type Choice, pairsOf, queryOf } from './address';
import type { Data, List, Product, Viewer } from './answer';
import type { Problem } from './client';
import type { Desk } from './desk';
import type { Texts } from './texts';

/**
 * The highest count of new comments. Readers gain nothing from a larger number, so counting ends
 * here.
 */
export const mostCounted = 100;

/** An answer and the choice it belongs to. */
export interface Shown {
  readonly choice: Choice;
  readonly data: Data;
  /** The later pages that "Load more" appended. */
  readonly more: readonly List[];
  /** The time until the answer arrived in the browser; null if the server rendered it. */
  readonly milliseconds: number | null;
}

export interface View {
  /** The path for links without a query; the whole address if the page has another base. */
  readonly path: string;
  /** The host page's own part of the query. */
  readonly foreign: string;
  readonly texts: Texts;
  readonly pageSize: number;
  /** The reader's choice. It differs from that of `shown` while a request is under way. */
  readonly choice: Choice;
  /** The last answer; null before the first. */
  readonly shown: Shown | null;
  readonly problem: Problem | null;
  readonly busy: boolean;
  /** Whether a retry loads more comments. */
  readonly more: boolean;
  readonly explain: boolean;
  readonly mode: Mode;
  /**
   * Where comments are written. Null for the first render, which must equal the server's markup.
   */
  readonly desk: Desk | null;
  /** The number of new comments since the list was read; null without live updates. */
  readonly fresh: number | null;
  /** The announcement of the last change, for screen readers. */
  readonly said: string;
}

export type Mode = 'pages' | 'more';

/** The props of every component. */
export interface Props {
  readonly view: View;
}

export function productOf(view: View): Product | null {
  return view.shown?.data.product ?? null;
}

export function viewerOf(view: View): Viewer | null {
  return view.shown?.data.viewer ?? null;
}

/**
 * Returns the visible list with the pages that "Load more" appended and the last one's plan; null
 * if there is none.
 */
export function listOf(view: View): List | null {
  const first = productOf(view)?.list ?? null;
  const last = view.shown?.more.at(-1);
  if (!first || !last) return first;
  return {
    ...first,
    ...(last.plan && { plan: last.plan }),
    pageInfo: last.pageInfo,
    nodes: [first, ...(view.shown?.more ?? [])].flatMap((list) => list.nodes),
  };
}

/** Reports whether the product has no comments at all. */
export function isEmptyProduct(view: View): boolean {
  return productOf(view)?.stats?.total === 0;
}

/**
 * Returns the link to a choice: only its query, or the path without one. It includes the whole
 * address if the page has another base.
 */
export function linkTo(view: View, choice: Choice): string {
  const query = [view.foreign, queryOf(choice)].filter(Boolean).join('&');
  if (query === '') return view.path;
  return `${view.path.startsWith('/') ? '' : view.path}?${query}`;
}

/**
 * Returns the hidden fields of a form, for the parts of the address that the form does not ask for.
 */
export function hiddenPairs(view: View, choice: Choice): [string, string][] {
  return [...new URLSearchParams(view.foreign), ...pairsOf(choice)];
}
