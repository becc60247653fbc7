import { type ComponentChildren, Fragment } from 'preact';
import { changed, type Choice } from '../address';
import type { List } from '../answer';
import type { Key } from '../texts';
import { hiddenPairs, linkTo, listOf, productOf, type Props } from '../view';
import { HiddenFields } from './filters';

/**
 * The navigation between pages: by number, by cursor where there are no numbers, or "Load more".
 */
export function Pages({ view }: Props) {
  const list = listOf(view);
  if (!list || !view.shown) return null;
  if (view.mode === 'more' && view.desk) return <More view={view} list={list} />;
  const { choice } = view.shown;
  if (list.pageCount === null || list.pageNumber === null) {
    const { hasPreviousPage, startCursor } = (productOf(view)?.list ?? list).pageInfo;
    const { hasNextPage, endCursor } = list.pageInfo;
    const before = hasPreviousPage && startCursor && { before: startCursor };
    const after = hasNextPage && endCursor && { after: endCursor };
    return before || after ? (
      <Ways view={view} choice={choice} previous={before} next={after} />
    ) : null;
  }
  if (list.pageCount < 2) return null;
  return (
    <NumberedPages
      view={view}
      choice={choice}
      first={list.pageNumber}
      page={list.pageNumber + view.shown.more.length}
      count={list.pageCount}
    />
  );
}

type Way = Partial<Choice> | null | false | '';
type WaysProps = Props & {
  choice: Choice;
  previous: Way;
  next?: Way;
  children?: ComponentChildren;
  end?: ComponentChildren;
};

/**
 * Links to the previous and next page around other content. The "Load more" link leads to the next
 * page until the script handles it.
 */
function Ways({ view, choice, previous, next, children, end }: WaysProps) {
  const { texts } = view;
  const link = (name: string, key: Key, change: Partial<Choice>, rel?: string) => (
    <a class={name} rel={rel} href={linkTo(view, changed(choice, change))}>{texts.say(key)}</a>
  );
  return (
    <nav class="pages" part="pages" aria-label={texts.say('pages')}>
      {next && link('button more', 'pages.more', next)}
      {previous && link('step', 'pages.previous', previous, 'prev')}
      {children}
      {next && link('step', 'pages.next', next, 'next')}
      {end}
    </nav>
  );
}

type Numbered = Props & { choice: Choice; first: number; page: number; count: number };

/**
 * The page numbers around the last visible page. "Load more" appends that below the first visible
 * one.
 */
function NumberedPages({ view, choice, first, page, count }: Numbered) {
  const numbers = pagesAround(page, count);
  const isBehindGap = (number: number, i: number) => number - (numbers[i - 1] ?? 0) > 1;
  return (
    <Ways
      view={view} choice={choice}
      previous={first > 1 && { page: Math.min(first - 1, count) }}
      next={page < count && { page: page + 1 }}
      end={
        numbers.some(isBehindGap) && <Jump view={view} choice={choice} page={page} count={count} />
      }
    >
      <ol>
        {numbers.map((number, i) => (
          <Fragment key={number}>
            {isBehindGap(number, i) && <li class="gap">…</li>}
            <li>
              <a
                href={linkTo(view, changed(choice, { page: number }))}
                aria-current={number === page ? 'page' : undefined}
              >
                {view.texts.number(number)}
              </a>
            </li>
          </Fragment>
        ))}
      </ol>
    </Ways>
  );
}

/** A field to enter a page number. While a page is loading, it shows the number of that page. */
function Jump({ view, choice, page, count }: Omit<Numbered, 'first'>) {
  const { path, texts } = view;
  const wanted = view.choice === choice ? page : view.choice.page;
  return (
    <form class="jump" method="get" action={path}>
      <HiddenFields pairs={hiddenPairs(view, changed(choice))} />
      <label>
        {`${texts.say('pages.jump')} `}
        <input
          type="number"
          name="page"
          min={1}
          max={count}
          inputMode="numeric"
          defaultValue={String(Math.min(wanted, count))}
        />
      </label>
      <button class="button">{texts.say('pages.go')}</button>
    </form>
  );
}

/**
 * The "Load more" button. If the list does not start at page 1, a link leads to the page before.
 */
function More({ view, list }: Props & { list: List }) {
  const { texts } = view;
  const { totalCount, nodes, pageInfo } = list;
  const first = list.pageNumber ?? 1;
  if (nodes.length === 0) return null;
  return (
    <Ways
      view={view}
      choice={(view.shown ?? view).choice}
      previous={first > 1 && { page: first - 1 }}
    >
      {totalCount! > 1 && (
        <p class="shown" role="status">
          {texts.say('pages.shown', {
            n: texts.number(nodes.length),
            total: texts.number(totalCount!),
          })}
        </p>
      )}
      {pageInfo.hasNextPage && (
        <button class="button more" type="button">
          {texts.say('pages.more')}
        </button>
      )}
    </Ways>
  );
}

/** Returns the page numbers to show: the first, the last and those near the current page. */
function pagesAround(page: number, count: number): number[] {
  const near = [page - 2, page - 1, page, page + 1, page + 2].filter(
    (number) => number > 1 && number < count,
  );
  return [1, ...near, count];
}
