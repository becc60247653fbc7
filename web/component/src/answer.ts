// The operation of the product page, and the types of its answer. The types follow
// ../../product/product.graphql; a test checks the operation against the schema.
import operation from '../../product/product.graphql';
import { type Choice, isDated, isFirst } from './address';

export { operation };

export interface Answer<D = Data> {
  readonly data: D | null;
  readonly errors: readonly GraphQLError[];
}

export interface GraphQLError {
  readonly message: string;
  readonly path?: readonly (string | number)[];
  readonly extensions?: { readonly code?: string };
}

export interface Data {
  readonly product: Product | null;
  readonly viewer?: Viewer | null;
}

/** The person who sends the request. */
export interface Viewer {
  readonly customerId: string | null;
  readonly isModerator: boolean;
  readonly mayWrite: boolean;
  /** Why the viewer cannot write, such as "TOKEN_REQUIRED"; null if `mayWrite` is true. */
  readonly cannotWriteReason: string | null;
  /**
   * Why the viewer cannot vote, or null if they can. "VISITOR_TOKEN_REQUIRED" means that anyone can
   * get a token to vote with.
   */
  readonly cannotVoteReason: string | null;
}

export interface Product {
  readonly id: string;
  readonly stats: Stats | null;
  readonly languages: readonly LanguageCount[] | null;
  /** The counts by language under the chosen ratings and traits. Absent if none are chosen. */
  readonly matching?: readonly LanguageCount[] | null;
  readonly commentsInOtherLanguages: number | null;
  readonly praise?: Comment | null;
  readonly complaint?: Comment | null;
  readonly viewerComment?: OwnComment | null;
  readonly list: List | null;
  /**
   * The counts of the list as if no ratings were chosen. Absent if the list or the product has the
   * same counts.
   */
  readonly facets?: { readonly stats: { readonly ratings: readonly RatingCount[] } | null } | null;
}

export interface LanguageCount {
  readonly language: string;
  readonly count: number;
}

export interface Stats {
  readonly total: number;
  readonly average: number | null;
  readonly verified: number;
  readonly withMedia: number;
  readonly ratings: readonly RatingCount[];
}

export interface RatingCount {
  readonly rating: number;
  readonly count: number;
}

export interface Comment {
  readonly id: string;
  readonly rating: number;
  readonly language: string;
  readonly title: string | null;
  readonly text: string;
  readonly author: { readonly customerId: string | null; readonly name: string };
  readonly createdAt: string;
  readonly updatedAt: string | null;
  readonly version: number;
  readonly isVerifiedPurchase: boolean;
  readonly media: readonly Media[];
  readonly votes: Votes;
  readonly reply: Reply | null;
}

export interface Votes {
  readonly helpful: number;
  /** Requested for highlights only. */
  readonly notHelpful?: number;
  /** The viewer's own vote. Requested for customers only. */
  readonly viewerVote?: Vote | null;
}

export type Vote = 'HELPFUL' | 'NOT_HELPFUL' | 'NONE';

/** A picture or a video. */
export interface Media {
  readonly url: string;
  readonly kind: 'PICTURE' | 'VIDEO';
  readonly alt: string;
}

/** The viewer's own comment, with fields that only its author sees. */
export interface OwnComment extends Comment {
  readonly status: string;
  /** The moderator's reason for the rejection. */
  readonly rejectionReason:
    'SPAM' | 'OFFENSIVE' | 'OFF_TOPIC' | 'PERSONAL_DATA' | 'NOT_A_REVIEW' | 'OTHER' | null;
  readonly heldEdit: Pick<
    Comment,
    'rating' | 'language' | 'title' | 'text' | 'media' | 'version'
  > | null;
}

export interface Reply {
  readonly text: string;
  readonly name: string;
  readonly createdAt: string;
  readonly updatedAt: string | null;
}

export interface List {
  readonly totalCount: number | null;
  readonly stats: {
    readonly average: number | null;
    readonly verified: number | null;
    readonly withMedia: number | null;
    readonly ratings: readonly RatingCount[];
  } | null;
  readonly pageCount: number | null;
  readonly pageNumber: number | null;
  readonly pageInfo: PageInfo;
  readonly nodes: readonly Comment[];
  readonly plan?: Plan;
}

export interface PageInfo {
  readonly hasNextPage: boolean;
  readonly hasPreviousPage: boolean;
  readonly startCursor: string | null;
  readonly endCursor: string | null;
}

export interface Plan {
  readonly summary: string;
  readonly candidates: readonly Candidate[];
  readonly reads: readonly Read[];
  readonly skipped: readonly Partition[];
  readonly position: Position | null;
  readonly lookups: number;
  readonly queries: number;
  readonly waves: number;
  readonly itemsRead: number;
  readonly itemsReturned: number;
  readonly readUnits: number;
  readonly milliseconds: number;
  readonly age: number;
}

export interface Candidate {
  readonly name: string;
  readonly reads: number;
  readonly estimatedUnits: number | null;
  readonly price: number | null;
  readonly chosen: boolean;
}

export interface Partition {
  readonly purpose: string;
  readonly index: string;
  readonly partitionKey: string;
}

export interface Read extends Partition {
  readonly sortKeyFrom: string | null;
  readonly sortKeyTo: string | null;
  readonly descending: boolean;
  readonly limit: number;
  readonly residualRatings: readonly number[] | null;
  readonly residualLanguages: readonly string[] | null;
  readonly queries: number;
  readonly itemsRead: number;
  readonly itemsKept: number;
  readonly readUnits: number;
}

export interface Position {
  readonly by: string;
  readonly rank: number | null;
  readonly skipped: number;
  readonly calls: number;
  readonly waves: number;
  readonly readUnits: number;
}

const orderNames = {
  oldest: 'OLDEST_FIRST',
  highest: 'HIGHEST_RATED',
  lowest: 'LOWEST_RATED',
  helpful: 'MOST_HELPFUL',
};

/**
 * Returns the variables of the operation for a choice, with `size` comments to a page. The server
 * uses the same variables.
 */
export function variablesOf(
  product: string,
  choice: Choice,
  size: number,
): Record<string, unknown> {
  const only = {
    ...(choice.only.includes('verified') && { verified: true }),
    ...(choice.only.includes('media') && { withMedia: true }),
  };
  const ratings = choice.ratings.length > 0 && { ratings: choice.ratings };
  const chips = isDated(choice) ? {} : { ...only, ...ratings };
  const facets = {
    ...(choice.languages.length > 0 && { languages: choice.languages }),
    ...only,
    ...(choice.from && { createdAfter: `${choice.from}T00:00:00Z` }),
    ...(choice.to && { createdBefore: `${dayAfter(choice.to)}T00:00:00Z` }),
  };
  const filter = { ...facets, ...ratings };
  const faceted = ratings && Object.keys(facets).length > 0;
  return {
    id: product,
    ...placeOf(choice, size),
    ...(Object.keys(filter).length > 0 && { filter }),
    ...(faceted && { facets, faceted }), // otherwise the list or the product has these counts
    ...(Object.keys(chips).length > 0 && { chips, narrowed: true }),
    ...(choice.order && { order: orderNames[choice.order] }),
    highlights: isFirst(choice),
  };
}

function placeOf({ page, after, before }: Choice, size: number): Record<string, unknown> {
  if (after) return { first: size, after };
  if (before) return { last: size, before };
  // No "page" for the first page: it must load even while page numbers are unavailable.
  return page > 1 ? { first: size, page } : { first: size };
}

function dayAfter(day: string): string {
  return new Date(Date.parse(day) + 86_400_000).toJSON().slice(0, 10);
}
