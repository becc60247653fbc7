// What the forms get from the element, and what they tell it.
import { type Choice, isFirst, isNewest } from './address';
import type { Comment, Data, OwnComment, Product, Viewer } from './answer';
import type { Client } from './client';
import { isOwn } from './forms/drafts';
import type { Texts } from './texts';

/** Where comments are written. It is the same for as long as the element shows one product. */
export interface Desk {
  readonly product: string;
  readonly client: Client;
  /** The language of the page around: a new comment is in it unless its writer chooses another. */
  readonly language: string;
  /** That language, and those of the product's comments. */
  languages(): readonly string[];
  /** The name that comments are written under, "" if the page gave none. */
  customerName(): string;
  /** Tells that the service made a change. The list shows it at once, and is read again. The reader is led there, or writes elsewhere. */
  written(change: Written, leads: boolean): void;
  /** Shows what became of a comment: an edit that was read meanwhile, or a vote. */
  seen(change: Change): void;
}

/** A change that the service made. A deleted comment is as it was before. */
export interface Change {
  readonly kind: 'added' | 'edited' | 'deleted' | 'voted';
  readonly comment: Comment;
}

/** A change of what a comment says. */
export interface Written extends Change {
  readonly kind: 'added' | 'edited' | 'deleted';
}

/** Who may do what, as forms need it. */
export interface FormProps {
  readonly desk: Desk;
  readonly texts: Texts;
  readonly viewer: Viewer | null;
}

/** Whether what was written waits for the shop, so that others do not see it. */
export function waits({ kind, comment }: Change): boolean {
  const { status, heldEdit } = comment as Partial<OwnComment>;
  return kind !== 'deleted' && (status === 'PENDING' || !!heldEdit);
}

/** A comment as its writer left it: with the edit that waits, and the version of that, which another edit has to name. */
export function latest(comment: Comment & Partial<OwnComment>): Comment {
  return { ...comment, ...comment.heldEdit };
}

/** Whether an answer knows what became of a change that waited: it has the comment for its writer, or by now for everyone. */
export function isKnown({ list, viewerComment }: Product, { comment }: Change): boolean | undefined {
  return viewerComment?.id === comment.id || list?.nodes.some(({ id, version }) => id === comment.id && version >= latest(comment).version);
}

/** An answer with a change that it may not show yet. Counts stay as the service has them. */
export function withChange(data: Data, choice: Choice, change: Change): Data {
  const { product } = data;
  if (!product) return data;
  const { list, praise, complaint, viewerComment } = product;
  if (waits(change)) {
    const shows = isFirst(choice) && data.viewer && isOwn(change.comment, data.viewer); // who asks by now may be another
    return shows ? { ...data, product: { ...product, viewerComment: change.comment as OwnComment } } : data;
  }
  return {
    ...data,
    product: {
      ...product,
      ...(praise && { praise: nodesWith([praise], change)[0] ?? null }),
      ...(complaint && { complaint: nodesWith([complaint], change)[0] ?? null }),
      ...(viewerComment && { viewerComment: (nodesWith([viewerComment], change) as OwnComment[])[0] ?? null }),
      list: list && { ...list, nodes: withAdded(nodesWith(list.nodes, change), choice, change) },
    },
  };
}

/** Comments after a change of one of them. */
export function nodesWith(nodes: readonly Comment[], { kind, comment }: Change): Comment[] {
  const kept = nodes.filter(({ id }) => kind !== 'deleted' || id !== comment.id);
  return kept.map((node) => {
    if (node.id !== comment.id) return node;
    if (kind === 'voted') return { ...node, votes: { ...node.votes, ...comment.votes } };
    return node.version < comment.version ? { ...comment, votes: node.votes } : node;
  });
}

function withAdded(nodes: Comment[], choice: Choice, { kind, comment }: Change): Comment[] {
  const isNew = kind === 'added' && goesFirst(comment, choice) && !nodes.some(({ id }) => id === comment.id);
  return isNew ? [comment, ...nodes] : nodes;
}

/** Whether a comment that was just written is the first of a list. */
function goesFirst(comment: Comment, choice: Choice): boolean {
  return isNewest(choice) && (choice.ratings.length === 0 || choice.ratings.includes(comment.rating)) &&
    (choice.languages.length === 0 || choice.languages.includes(comment.language)) &&
    (!choice.only.includes('verified') || comment.isVerifiedPurchase) && (!choice.only.includes('media') || comment.media.length > 0);
}
