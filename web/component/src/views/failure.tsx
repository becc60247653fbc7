import { type Key } from '../texts';
import { linkTo, type Props } from '../view';
import type { Problem } from '../client';

const texts: Readonly<Record<Problem['kind'], Key>> = {
  offline: 'error.offline',
  network: 'error.network',
  slow: 'error.slow',
  busy: 'error.busy',
  limited: 'error.limited',
  unavailable: 'error.unavailable',
  numbers: 'error.numbers',
  unauthenticated: 'error.unauthenticated',
  forbidden: 'error.unavailable',
  refused: 'error.unavailable',
};

/** What went wrong, and a link that tries again. */
export function Failed({ view, problem }: Props & { problem: Problem }) {
  const { choice } = view;
  const { kind, retryAfter } = problem;
  return (
    <div class="error" part="error" role="alert">
      <p>{view.texts.say(texts[kind])}</p>
      {retryAfter > 0 && <p class="wait">{view.texts.count('error.wait', retryAfter)}</p>}
      <a class="button" href={linkTo(view, choice)}>{view.texts.say('error.retry')}</a>
      {kind === 'numbers' && <a class="button" href={linkTo(view, { ...choice, page: 1 })}>{view.texts.say('error.first')}</a>}
    </div>
  );
}
