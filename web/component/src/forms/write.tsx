import type { Props } from '../view';

/** The place of the form. The server sends it empty: its height is kept, and without scripts it is not shown. */
export function Write({ view }: Props) {
  return <section class="write" part="write" aria-label={view.texts.say('write')}></section>;
}
