import { Fragment } from 'preact';
import type { Choice } from '../address';
import type { List } from '../answer';
import { hiddenPairs, linkTo, listOf, type Props } from '../view';
import { HiddenFields } from './filters';

/** The way to other pages: by number, by cursor where numbers are not to be had, or one long list. */
export function Pages({ view }: Props) {
  const list = listOf(view);
  if (!list || !view.shown) return null;
  if (view.mode === 'more' && view.desk) return <More view={view} list={list} />;
  const { choice } = view.shown;
  if (list.pageCount === null || list.pageNumber === null) return <CursorPages view={view} list={list} />;
  if (list.pageCount < 2) return null;
  return <NumberedPages view={view} choice={choice} page={list.pageNumber} count={list.pageCount} />;
}

function NumberedPages({ view, choice, page, count }: Props & { choice: Choice; page: number; count: number }) {
  const at = (number: number) => linkTo(view, { ...choice, page: number, after: '', before: '' });
  const numbers = pagesAround(page, count);
  const { texts } = view;
  return (
    <nav class="pages" part="pages" aria-label={texts.say('pages')}>
      {page > 1 && <a class="step" rel="prev" href={at(Math.min(page - 1, count))}>{texts.say('pages.previous')}</a>}
      <ol>
        {numbers.map((number, i) => {
          const gap = number - (numbers[i - 1] ?? 0) > 1;
          return (
            <Fragment key={number}>
              {gap && <li class="gap">…</li>}
              <li><a href={at(number)} aria-current={number === page ? 'page' : undefined}>{texts.number(number)}</a></li>
            </Fragment>
          );
        })}
      </ol>
      {page < count && <a class="step" rel="next" href={at(page + 1)}>{texts.say('pages.next')}</a>}
      {hasGap(numbers) && <Jump view={view} choice={choice} page={page} count={count} />}
    </nav>
  );
}

function Jump({ view, choice, page, count }: Props & { choice: Choice; page: number; count: number }) {
  const { path, texts } = view;
  return (
    <form class="jump" method="get" action={path}>
      <HiddenFields pairs={hiddenPairs(view, choice, ['rating', 'language', 'order', 'from', 'to'])} />
      <label>
        {`${texts.say('pages.jump')} `}
        <input type="number" name="page" min={1} max={count} inputMode="numeric" defaultValue={String(Math.min(page, count))} />
      </label>
      <button class="button">{texts.say('pages.go')}</button>
    </form>
  );
}

function CursorPages({ view, list }: Props & { list: List }) {
  const { pageInfo: { hasPreviousPage, hasNextPage, startCursor, endCursor } } = list;
  const { choice } = view.shown ?? view;
  const previous = hasPreviousPage && startCursor !== null;
  const next = hasNextPage && endCursor !== null;
  if (!previous && !next) return null;
  const at = (cursor: Partial<Choice>) => linkTo(view, { ...choice, page: 1, after: '', before: '', ...cursor });
  return (
    <nav class="pages" part="pages" aria-label={view.texts.say('pages')}>
      {previous && <a class="step" rel="prev" href={at({ before: startCursor })}>{view.texts.say('pages.previous')}</a>}
      {next && <a class="step" rel="next" href={at({ after: endCursor })}>{view.texts.say('pages.next')}</a>}
    </nav>
  );
}

function More({ view, list }: Props & { list: List }) {
  const { texts } = view;
  const shown = texts.say('pages.shown', { n: texts.number(list.nodes.length), total: texts.number(list.totalCount ?? list.nodes.length) });
  if (list.nodes.length === 0) return null;
  return (
    <nav class="pages" part="pages" aria-label={texts.say('pages')}>
      {list.totalCount !== null && <p class="shown" role="status">{shown}</p>}
      {list.pageInfo.hasNextPage && <button class="button more" type="button" data-action="more">{texts.say('pages.more')}</button>}
    </nav>
  );
}

/** The numbers to show: the first, the last and those close to the page. */
function pagesAround(page: number, count: number): number[] {
  const near = [page - 2, page - 1, page, page + 1, page + 2].filter((number) => number > 1 && number < count);
  return [1, ...near, count];
}

function hasGap(numbers: readonly number[]): boolean {
  return numbers.some((number, i) => i > 0 && number - (numbers[i - 1] ?? 0) > 1);
}
