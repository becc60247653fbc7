import { changed } from '../address';
import type { Problem } from '../client';
import type { Texts } from '../texts';
import { linkTo, type Props } from '../view';
import { Clear } from './filters';

/** A problem, with links to retry or to what can be shown instead. */
export function Failed({ view, problem }: Props & { problem: Problem }) {
  const { choice, texts } = view;
  const kind =
    problem.kind === 'forbidden' || problem.kind === 'refused' ? 'unavailable' : problem.kind;
  const again = againOf(texts, kind, problem.retryAfter);
  const here = linkTo(view, choice);
  const first = linkTo(view, changed(choice));
  const much = kind === 'much';
  return (
    <div class="error" part="error" role="alert">
      <p>{texts.say(`error.${kind}`)}</p>
      {!!again && <p class="wait">{again}</p>}
      {!much && (
        <a class={view.more ? 'button more' : 'button'} href={here}>
          {texts.say('error.retry')}
        </a>
      )}
      {(much || kind === 'numbers') && first !== here && (
        <a class="button" href={first}>
          {texts.say('error.first')}
        </a>
      )}
      {much && <Clear view={view} look="button" />}
    </div>
  );
}

/** Returns when to retry, or "" if the text of the problem says what to do. */
export function againOf(texts: Texts, kind: Problem['kind'], retryAfter: number): string {
  if (retryAfter > 0) return texts.count('error.wait', retryAfter);
  return /offline|much|numbers|unauthenticated|forbidden/.test(kind) ? '' : texts.say('error.soon');
}
