// The partitions of an answer as cells of a grid, languages by ratings. Pure, so that it can be tried without drawing.
import type { Partition, Plan, Product } from './answer';
import type { Choice } from './address';

export interface Cell {
  readonly rating: number;
  /** The filter wants its comments. */
  readonly wanted: boolean;
  /** A partition that holds it was read for the page or to count. */
  readonly read: boolean;
  /** Its partition was left out because it is known to be empty. */
  readonly skipped: boolean;
}

export interface Row {
  /** A language, or "" for all languages that have no row of their own. */
  readonly language: string;
  readonly cells: readonly Cell[];
}

/** How many languages have rows of their own, unless the filter names more. */
const mostRows = 6;

const allRatings = [1, 2, 3, 4, 5];

/** The grid of a plan: the chosen languages and the largest ones, the others in one row. */
export function gridOf(product: Product, choice: Choice, plan: Plan): Row[] {
  const listed = (product.languages ?? []).map(({ language }) => language);
  const named = plan.reads.map((read) => placeOf(read).language ?? '').filter((tag) => tag !== '');
  const largest = listed.slice(0, mostRows);
  const rows = [...new Set([...choice.languages, ...(choice.languages.length > 0 ? [] : named), ...largest])].slice(0, 2 * mostRows);
  const others = listed.some((tag) => !rows.includes(tag)) || (product.commentsInOtherLanguages ?? 0) > 0;
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

/** Whether a partition has the comments of a cell. */
function holds(partition: Partition, language: string, rating: number): boolean {
  const place = placeOf(partition);
  return (place.language === null || place.language === language) && (place.rating === null || place.rating === rating);
}

interface Place {
  readonly language: string | null;
  readonly rating: number | null;
}

/** The language and the rating of a partition, from the end of its key: P#espresso/de/5. A product's id may have slashes. */
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
