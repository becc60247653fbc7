import { Fragment } from 'preact';
import { changed, type Choice } from '../address';
import type { List } from '../answer';
import { hiddenPairs, linkTo, listOf, productOf, type Props } from '../view';
import { HiddenFields } from './filters';

/** The way to other pages: by number, by cursor where numbers are not to be had, or one long list. */
export function Pages({ view }: Props) {
  const list = listOf(view);
  if (!list || !view.shown) return null;
  if (view.mode === 'more' && view.desk) return <More view={view} list={list} />;
  const { choice } = view.shown;
  if (list.pageCount === null || list.pageNumber === null) return <CursorPages view={view} list={list} />;
  if (list.pageCount < 2) return null;
  const page = list.pageNumber + view.shown.more.length;
  return <NumberedPages view={view} choice={choice} first={list.pageNumber} page={page} count={list.pageCount} />;
}

type Numbered = Props & { choice: Choice; first: number; page: number; count: number };

/** The numbers around the last page that is shown. "Load more" shows it below the first one. */
function NumberedPages({ view, choice, first, page, count }: Numbered) {
  const at = (number: number) => linkTo(view, changed(choice, { page: number }));
  const numbers = pagesAround(page, count);
  const isBehindGap = (number: number, i: number) => number - (numbers[i - 1] ?? 0) > 1;
  const { texts } = view;
  return (
    <nav class="pages" part="pages" aria-label={texts.say('pages')}>
      {page < count && <LoadMore view={view} href={at(page + 1)} />}
      {first > 1 && <Previous view={view} href={at(Math.min(first - 1, count))} />}
      <ol>
        {numbers.map((number, i) => (
          <Fragment key={number}>
            {isBehindGap(number, i) && <li class="gap">…</li>}
            <li><a href={at(number)} aria-current={number === page ? 'page' : undefined}>{texts.number(number)}</a></li>
          </Fragment>
        ))}
      </ol>
      {page < count && <Next view={view} href={at(page + 1)} />}
      {numbers.some(isBehindGap) && <Jump view={view} choice={choice} page={page} count={count} />}
    </nav>
  );
}

type Link = Props & { href: string };

/** The next comments below those that are shown. It leads to the next page until the script is there. */
function LoadMore({ view, href }: Link) {
  return <a class="button more" href={href}>{view.texts.say('pages.more')}</a>;
}

function Previous({ view, href }: Link) {
  return <a class="step" rel="prev" href={href}>{view.texts.say('pages.previous')}</a>;
}

function Next({ view, href }: Link) {
  return <a class="step" rel="next" href={href}>{view.texts.say('pages.next')}</a>;
}

/** A field for the number of a page. It shows the one that is asked for, also while that is awaited. */
function Jump({ view, choice, page, count }: Omit<Numbered, 'first'>) {
  const { path, texts } = view;
  const wanted = view.choice === choice ? page : view.choice.page;
  return (
    <form class="jump" method="get" action={path}>
      <HiddenFields pairs={hiddenPairs(view, changed(choice))} />
      <label>
        {`${texts.say('pages.jump')} `}
        <input type="number" name="page" min={1} max={count} inputMode="numeric" defaultValue={String(Math.min(wanted, count))} />
      </label>
      <button class="button">{texts.say('pages.go')}</button>
    </form>
  );
}

function CursorPages({ view, list }: Props & { list: List }) {
  const { hasNextPage, endCursor } = list.pageInfo;
  const { hasPreviousPage, startCursor } = (productOf(view)?.list ?? list).pageInfo;
  const { choice } = view.shown ?? view;
  const previous = hasPreviousPage && startCursor && linkTo(view, changed(choice, { before: startCursor }));
  const next = hasNextPage && endCursor && linkTo(view, changed(choice, { after: endCursor }));
  if (!previous && !next) return null;
  return (
    <nav class="pages" part="pages" aria-label={view.texts.say('pages')}>
      {next && <LoadMore view={view} href={next} />}
      {previous && <Previous view={view} href={previous} />}
      {next && <Next view={view} href={next} />}
    </nav>
  );
}

/** One long list. If it was opened in the middle, such as by an address with a page, a link leads back. */
function More({ view, list }: Props & { list: List }) {
  const { texts } = view;
  const first = list.pageNumber ?? 1;
  const shown = texts.say('pages.shown', { n: texts.number(list.nodes.length), total: texts.number(list.totalCount ?? list.nodes.length) });
  if (list.nodes.length === 0) return null;
  return (
    <nav class="pages" part="pages" aria-label={texts.say('pages')}>
      {first > 1 && <Previous view={view} href={linkTo(view, changed((view.shown ?? view).choice, { page: first - 1 }))} />}
      {list.totalCount !== null && <p class="shown" role="status">{shown}</p>}
      {list.pageInfo.hasNextPage && <button class="button more" type="button">{texts.say('pages.more')}</button>}
    </nav>
  );
}

/** The numbers to show: the first, the last and those close to the page. */
function pagesAround(page: number, count: number): number[] {
  const near = [page - 2, page - 1, page, page + 1, page + 2].filter((number) => number > 1 && number < count);
  return [1, ...near, count];
}
