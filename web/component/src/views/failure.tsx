import { changed } from '../address';
import { linkTo, type Props } from '../view';
import type { Problem } from '../client';
import { Clear } from './filters';

/** What went wrong, and a link that tries again, or to what can be shown. */
export function Failed({ view, problem }: Props & { problem: Problem }) {
  const { choice } = view;
  const { kind, retryAfter } = problem;
  const here = linkTo(view, choice);
  const first = linkTo(view, changed(choice));
  const much = kind === 'much';
  return (
    <div class="error" part="error" role="alert">
      <p>{view.texts.say(`error.${kind === 'forbidden' || kind === 'refused' ? 'unavailable' : kind}`)}</p>
      {retryAfter > 0 && <p class="wait">{view.texts.count('error.wait', retryAfter)}</p>}
      {!much && <a class={view.more ? 'button more' : 'button'} href={here}>{view.texts.say('error.retry')}</a>}
      {(much || kind === 'numbers') && first !== here && <a class="button" href={first}>{view.texts.say('error.first')}</a>}
      {much && <Clear view={view} look="button" />}
    </div>
  );
}
