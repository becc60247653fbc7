import { changed } from '../address';
import type { Problem } from '../client';
import type { Texts } from '../texts';
import { linkTo, type Props } from '../view';
import { Clear } from './filters';

/** What went wrong, and a link that tries again, or to what can be shown. */
export function Failed({ view, problem }: Props & { problem: Problem }) {
  const { choice, texts } = view;
  const kind = problem.kind === 'forbidden' || problem.kind === 'refused' ? 'unavailable' : problem.kind;
  const again = againOf(texts, kind, problem.retryAfter);
  const here = linkTo(view, choice);
  const first = linkTo(view, changed(choice));
  const much = kind === 'much';
  return (
    <div class="error" part="error" role="alert">
      <p>{texts.say(`error.${kind}`)}</p>
      {!!again && <p class="wait">{again}</p>}
      {!much && <a class={view.more ? 'button more' : 'button'} href={here}>{texts.say('error.retry')}</a>}
      {(much || kind === 'numbers') && first !== here && <a class="button" href={first}>{texts.say('error.first')}</a>}
      {much && <Clear view={view} look="button" />}
    </div>
  );
}

/** When to try again, "" where the words for a problem say what else to do. */
export function againOf(texts: Texts, kind: Problem['kind'], retryAfter: number): string {
  if (retryAfter > 0) return texts.count('error.wait', retryAfter);
  return /offline|much|numbers|unauthenticated|forbidden/.test(kind) ? '' : texts.say('error.soon');
}
