// The partitions of a plan as a grid of languages by ratings. It renders nothing, so tests need no
// browser.
import type { Partition, Plan, Product } from './answer';
import type { Choice } from './address';

export interface Cell {
  readonly rating: number;
  /** Whether the filter matches its comments. */
  readonly wanted: boolean;
  /** Whether a partition with its comments was read, for the page or for counts. */
  readonly read: boolean;
  /** Whether its partition was skipped because it is known to be empty. */
  readonly skipped: boolean;
}

export interface Row {
  /** A language tag, or "" for all languages without a row of their own. */
  readonly language: string;
  readonly cells: readonly Cell[];
}

/** How many languages have rows of their own, unless the filter names more. */
const mostRows = 6;

const allRatings = [1, 2, 3, 4, 5];

/**
 * Returns the grid of a plan. The chosen languages and the largest ones have rows; the others share
 * one.
 */
export function gridOf(product: Product, choice: Choice, plan: Plan): Row[] {
  const listed = (product.languages ?? []).map(({ language }) => language);
  const named = plan.reads.map((read) => placeOf(read).language ?? '').filter((tag) => tag !== '');
  const largest = listed.slice(0, mostRows);
  const rows = [
    ...new Set([...choice.languages, ...(choice.languages.length > 0 ? [] : named), ...largest]),
  ].slice(0, 2 * mostRows);
  const others =
    listed.some((tag) => !rows.includes(tag)) || (product.commentsInOtherLanguages ?? 0) > 0;
  return [...rows, ...(others ? [''] : [])].map((language) => ({
    language,
    cells: allRatings.map((rating) => ({
      rating,
      wanted: isWanted(choice, language, rating),
      read: plan.reads.some((read) => read.queries > 0 && holds(read, language, rating)),
      skipped: plan.skipped.some((skip) => holds(skip, language, rating)),
    })),
  }));
}

function isWanted(choice: Choice, language: string, rating: number): boolean {
  const byLanguage = choice.languages.length === 0 || choice.languages.includes(language);
  return byLanguage && (choice.ratings.length === 0 || choice.ratings.includes(rating));
}

/** Reports whether a partition contains the comments of a cell. */
function holds(partition: Partition, language: string, rating: number): boolean {
  const place = placeOf(partition);
  return (
    (place.language === null || place.language === language) &&
    (place.rating === null || place.rating === rating)
  );
}

interface Place {
  readonly language: string | null;
  readonly rating: number | null;
}

/**
 * Returns the language and rating of a partition from the end of its key: P#espresso/de/5. Ids of
 * products may contain slashes.
 */
export function placeOf({ index, partitionKey }: Partition): Place {
  const parts = partitionKey.split('/');
  const [last = '', beforeLast = ''] = [parts.at(-1), parts.at(-2)];
  switch (index) {
    case 'byLang': return { language: last, rating: null };
    case 'byRating': return { language: null, rating: Number(last) };
    case 'byLangAndRating': return { language: beforeLast, rating: Number(last) };
    default: return { language: null, rating: null };
  }
}
