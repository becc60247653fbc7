// Reconciles counts with lists: after a write, lists are up to date at once, and counts a moment
// later.
import { isDated, isFiltered } from './address';
import type { Comment, LanguageCount, Stats } from './answer';
import type { Shown } from './view';

/**
 * Returns an answer whose counts agree with its list. Counts of a complete list are computed from
 * it. Counts that are lower than the number of known comments are removed. The server does the
 * same.
 */
export function recounted(shown: Shown, pageSize: number): Shown {
  const { choice, data, more } = shown;
  const { product } = data;
  if (!product?.list) return shown;
  let { list, stats, languages } = product;
  const nodes = [list, ...more].flatMap((list) => list.nodes);
  const { hasNextPage } = (more.at(-1) ?? list).pageInfo;
  let least = nodes.length;
  if (!hasNextPage && !list.pageInfo.hasPreviousPage) {
    const all = statsOf(nodes);
    list = {
      ...list,
      totalCount: least,
      pageCount: least && more.length + 1,
      stats: { ...all, ...(isDated(choice) && { verified: null, withMedia: null }) },
    };
    if (!isFiltered(choice)) {
      stats = all;
      languages = languagesOf(nodes);
    }
  } else if (least > 0) {
    // The page number after a cursor is approximate, so the page may begin earlier than its number
    // says.
    least = Math.max(
      least + (choice.page - 1) * pageSize + Number(hasNextPage),
      ((list.pageNumber ?? 1) - 1) * pageSize + 1,
    );
  }
  if (list.totalCount !== null && list.totalCount < least) {
    list = { ...list, totalCount: null, pageCount: null, stats: null };
  }
  if (stats && stats.total < least) stats = null;
  return { ...shown, data: { ...data, product: { ...product, list, stats, languages } } };
}

function statsOf(nodes: readonly Comment[]): Stats {
  const count = (has: (comment: Comment) => unknown) => nodes.filter(has).length;
  return {
    total: nodes.length,
    average: nodes.length
      ? nodes.reduce((sum, { rating }) => sum + rating, 0) / nodes.length
      : null,
    verified: count(({ isVerifiedPurchase }) => isVerifiedPurchase),
    withMedia: count(({ media }) => media?.length),
    ratings: [5, 4, 3, 2, 1].map((rating) => ({
      rating,
      count: count((comment) => comment.rating === rating),
    })),
  };
}

/** Returns the languages of comments with their counts, the largest first, then by tag. */
function languagesOf(nodes: readonly Comment[]): LanguageCount[] {
  const tags = nodes.map(({ language }) => language).sort();
  const counts = [...new Set(tags)].map((language) => ({
    language,
    count: tags.filter((tag) => tag === language).length,
  }));
  return counts.sort((a, b) => b.count - a.count);
}
