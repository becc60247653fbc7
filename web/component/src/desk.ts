// The interface between the element and its forms.
import { type Choice, isFirst, isNewest } from './address';
import type { Comment, Data, OwnComment, Product, Viewer } from './answer';
import type { Client } from './client';
import { isOwn } from './forms/drafts';
import type { Texts } from './texts';

/** Where comments are written. The object stays the same while the element shows one product. */
export interface Desk {
  readonly product: string;
  readonly client: Client;
  /** The language of the page around the element, which is preselected for a new comment. */
  readonly language: string;
  /** That language and the languages of the product's comments. */
  languages(): readonly string[];
  /** The author's name for new comments, or "" if the page gave none. */
  customerName(): string;
  /**
   * Reports a change that the service made. The list shows it at once and is then read again. With
   * `leads`, the focus moves to it, unless the reader is typing elsewhere.
   */
  written(change: Written, leads: boolean): void;
  /** Shows the new state of a comment: an edit that was found on the service, or a vote. */
  seen(change: Change): void;
}

/** A change that the service made. A deleted comment is given as it was before. */
export interface Change {
  readonly kind: 'added' | 'edited' | 'deleted' | 'voted';
  readonly comment: Comment;
}

/** A change of a comment's content, unlike a vote. */
export interface Written extends Change {
  readonly kind: 'added' | 'edited' | 'deleted';
}

/** The props that all forms share. */
export interface FormProps {
  readonly desk: Desk;
  readonly texts: Texts;
  readonly viewer: Viewer | null;
}

/** Reports whether a change waits for a moderator, so that only its author sees it. */
export function waits({ kind, comment }: Change): boolean {
  const { status, heldEdit } = comment as Partial<OwnComment>;
  return kind !== 'deleted' && (status === 'PENDING' || !!heldEdit);
}

/**
 * Returns a comment as its author last submitted it. A held edit replaces the fields, and also the
 * version, which the next edit must name.
 */
export function latest(comment: Comment & Partial<OwnComment>): Comment {
  return { ...comment, ...comment.heldEdit };
}

/**
 * Reports whether an answer has the result of a change that waited: its author's view of the
 * comment, or the public one once approved.
 */
export function isKnown(
  { list, viewerComment }: Product,
  { comment }: Change,
): boolean | undefined {
  return (
    viewerComment?.id === comment.id ||
    list?.nodes.some(({ id, version }) => id === comment.id && version >= latest(comment).version)
  );
}

/**
 * Returns an answer with a change applied that it may not include yet. Counts stay as the service
 * sent them.
 */
export function withChange(data: Data, choice: Choice, change: Change): Data {
  const { product } = data;
  if (!product) return data;
  const { list, praise, complaint, viewerComment } = product;
  if (waits(change)) {
    // Another customer may have signed in by now.
    const shows = isFirst(choice) && data.viewer && isOwn(change.comment, data.viewer);
    return shows
      ? { ...data, product: { ...product, viewerComment: change.comment as OwnComment } }
      : data;
  }
  return {
    ...data,
    product: {
      ...product,
      ...(praise && { praise: nodesWith([praise], change)[0] ?? null }),
      ...(complaint && { complaint: nodesWith([complaint], change)[0] ?? null }),
      ...(viewerComment && {
        viewerComment: (nodesWith([viewerComment], change) as OwnComment[])[0] ?? null,
      }),
      list: list && { ...list, nodes: withAdded(nodesWith(list.nodes, change), choice, change) },
    },
  };
}

/** Applies a change to a list of comments. Adds nothing. */
export function nodesWith(nodes: readonly Comment[], { kind, comment }: Change): Comment[] {
  const kept = nodes.filter(({ id }) => kind !== 'deleted' || id !== comment.id);
  return kept.map((node) => {
    if (node.id !== comment.id) return node;
    if (kind === 'voted') return { ...node, votes: { ...node.votes, ...comment.votes } };
    return node.version < comment.version ? { ...comment, votes: node.votes } : node;
  });
}

function withAdded(nodes: Comment[], choice: Choice, { kind, comment }: Change): Comment[] {
  const isNew =
    kind === 'added' && goesFirst(comment, choice) && !nodes.some(({ id }) => id === comment.id);
  return isNew ? [comment, ...nodes] : nodes;
}

/** Reports whether a new comment belongs at the top of a list. */
function goesFirst(comment: Comment, choice: Choice): boolean {
  return (
    isNewest(choice) &&
    (choice.ratings.length === 0 || choice.ratings.includes(comment.rating)) &&
    (choice.languages.length === 0 || choice.languages.includes(comment.language)) &&
    (!choice.only.includes('verified') || comment.isVerifiedPurchase) &&
    (!choice.only.includes('media') || comment.media.length > 0)
  );
}
