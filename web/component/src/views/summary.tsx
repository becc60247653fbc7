import { changed, isFiltered, toggled } from '../address';
import type { Stats } from '../answer';
import { linkTo, productOf, type Props } from '../view';

/** The average rating of the product, and the histogram, which also filters by rating. */
export function Summary({ view }: Props) {
  const product = productOf(view);
  if (!product?.stats || !view.shown) return null;
  const { choice } = view.shown;
  const list = choice.ratings.length ? product.facets : product.list;
  const known =
    list?.stats ?? (isFiltered(changed(choice, { ratings: [] })) ? null : product.stats);
  const ratings = known?.ratings ?? product.stats.ratings.map((row) => ({ ...row, count: null }));
  return (
    <section class="summary" part="summary" aria-label={view.texts.say('ratings')}>
      <Average view={view} stats={product.stats} />
      <Histogram view={view} ratings={ratings} />
    </section>
  );
}

function Average({ view: { texts }, stats: { average, total } }: Props & { stats: Stats }) {
  const number = average !== null && texts.decimal(average);
  return (
    <p class="average">
      {number && <span class="number">{number}</span>}
      {number && <Stars label={texts.say('stars.of', { n: number })} average={average} />}
      <span class="of">{texts.count('comments', total)}</span>
    </p>
  );
}

/**
 * Five stars, filled according to the average. The width is a class because a strict CSP forbids
 * style attributes.
 */
export function Stars({ label, average }: { label: string; average: number }) {
  return (
    <span class={`stars fill-${Math.round(average * 10)}`} role="img" aria-label={label}></span>
  );
}

/** `count` is null if unknown. */
type Row = { readonly rating: number; readonly count: number | null };

function Histogram({ view, ratings }: Props & { ratings: readonly Row[] }) {
  const sum = ratings.reduce((total, { count }) => total + (count ?? 0), 0);
  return (
    <ul class="histogram" part="histogram">
      {ratings.map((row) => (
        <li key={row.rating}>
          <Bar view={view} row={row} max={Math.max(sum, 1)} />
        </li>
      ))}
    </ul>
  );
}

function Bar({ view, row, max }: Props & { row: Row; max: number }) {
  const { choice, texts } = view;
  const chosen = choice.ratings.includes(row.rating);
  const ratings = toggled(choice.ratings, row.rating).sort((a, b) => b - a);
  return (
    <a
      class="bar"
      part="bar"
      href={linkTo(view, changed(choice, { ratings }))}
      aria-current={current(chosen)}
      rel="nofollow"
    >
      <span class="label">{texts.count('stars', row.rating)}</span>
      <progress class="track" max={max} value={row.count ?? 0} aria-hidden="true"></progress>
      <span class="count">{row.count !== null && texts.number(row.count)}</span>
      {chosen && <span class="hidden">{texts.say('selected')}</span>}
    </a>
  );
}

/** Returns the aria-current of a filter link. */
export function current(chosen: boolean): 'true' | undefined {
  return chosen ? 'true' : undefined;
}
