// What is drawn, as a value: every view is a function of it.
import { type Choice, pairsOf, queryOf } from './address';
import type { Data, List, Product, Viewer } from './answer';
import type { Problem } from './client';
import type { Desk } from './desk';
import type { Texts } from './texts';

/** How many new comments are counted. A larger number tells a reader no more, and following ends. */
export const mostCounted = 100;

/** An answer and what it answers. */
export interface Shown {
  readonly choice: Choice;
  readonly data: Data;
  /** Comments of later pages that "Load more" put below, and where they end. */
  readonly more: readonly List[];
  /** How long the answer took as the browser saw it; null if the server drew it. */
  readonly milliseconds: number | null;
}

export interface View {
  /** The path of links that have no query; the whole address if the page's links have another base. */
  readonly path: string;
  /** The part of the query that is the host page's own. */
  readonly foreign: string;
  readonly texts: Texts;
  readonly pageSize: number;
  /** What the reader wants. While an answer is awaited, it is ahead of what is shown. */
  readonly choice: Choice;
  /** The last answer; null before the first. */
  readonly shown: Shown | null;
  readonly problem: Problem | null;
  readonly busy: boolean;
  /** Whether another attempt is to load more. */
  readonly more: boolean;
  readonly explain: boolean;
  readonly mode: Mode;
  /** Where comments are written. Null for the first render, which has to be what the server sent. */
  readonly desk: Desk | null;
  /** How many comments came since the list was read; null if nobody counts. */
  readonly fresh: number | null;
  /** What was just written, in words for screen readers. */
  readonly said: string;
}

export type Mode = 'pages' | 'more';

/** What every view takes. */
export interface Props {
  readonly view: View;
}

export function productOf(view: View): Product | null {
  return view.shown?.data.product ?? null;
}

export function viewerOf(view: View): Viewer | null {
  return view.shown?.data.viewer ?? null;
}

/** The list of the answer, with what "Load more" added and the plan of that; null if there is none. */
export function listOf(view: View): List | null {
  const first = productOf(view)?.list ?? null;
  const last = view.shown?.more.at(-1);
  if (!first || !last) return first;
  return { ...first, ...(last.plan && { plan: last.plan }), pageInfo: last.pageInfo, nodes: [first, ...(view.shown?.more ?? [])].flatMap((list) => list.nodes) };
}

/** Whether the product has no comments at all. */
export function isEmptyProduct(view: View): boolean {
  return productOf(view)?.stats?.total === 0;
}

/** The link to a choice: its query alone, or the path if it has none. Both where the page's links have another base. */
export function linkTo(view: View, choice: Choice): string {
  const query = [view.foreign, queryOf(choice)].filter(Boolean).join('&');
  if (query === '') return view.path;
  return `${view.path.startsWith('/') ? '' : view.path}?${query}`;
}

/** What a form has to send beside the fields that it shows. */
export function hiddenPairs(view: View, choice: Choice): [string, string][] {
  return [...new URLSearchParams(view.foreign), ...pairsOf(choice)];
}
