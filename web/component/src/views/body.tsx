import { isEmptyProduct, listOf, productOf, type Props } from '../view';
import { Compose, Write } from '../forms/write';
import { Fresh, Highlights, List, Own, Result } from './comments';
import { Drawer } from './drawer';
import { Failed } from './failure';
import { Filters } from './filters';
import { Pages } from './pages';
import { Summary } from './summary';

/** The content of div.root. */
export function Body({ view }: Props) {
  const product = productOf(view);
  const plain = isEmptyProduct(view);
  return (
    <>
      {product && !plain && <Summary view={view} />}
      {product && !plain && <Filters view={view} />}
      <Compose view={view} />
      {view.problem && <Failed view={view} problem={view.problem} />}
      <Fresh view={view} />
      {!plain && <Highlights view={view} />}
      {!plain && <Result view={view} />}
      {view.busy && <Waiting view={view} />}
      <Own view={view} />
      {listOf(view) && <List view={view} />}
      {!plain && <Pages view={view} />}
      <Write view={view} />
      {view.explain && listOf(view)?.plan && <Drawer view={view} />}
    </>
  );
}

/**
 * Shown while a request is under way: a skeleton if nothing is visible yet, and a text if it takes
 * long.
 */
function Waiting({ view }: Props) {
  return (
    <div class="waiting">
      {!view.shown && <p class="hidden" role="status">{view.texts.say('loading')}</p>}
      {!view.shown && <Skeleton />}
      <p class="slow">{view.texts.say('loading.slow')}</p>
    </div>
  );
}

/** A placeholder for the list. Its height reduces layout shifts of the page. */
export function Skeleton() {
  return (
    <div class="list skeleton" aria-hidden="true">
      {[1, 2, 3, 4].map((i) => (
        <div key={i}>
          <span class="line short"></span>
          <span class="line"></span>
          <span class="line"></span>
        </div>
      ))}
    </div>
  );
}
