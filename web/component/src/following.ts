// Counts new comments of the visible list. The connection itself is in live.ts, a separate script.
import { type Choice, isNewest } from './address';
import { variablesOf } from './answer';
import type * as Live from './live';
import type { Session } from './session';
import { mostCounted } from './view';

/**
 * The file name of the script, with a hash of its content. A script of another release has another
 * name.
 */
declare const LIVE_SCRIPT: string;

/** Follows the lists that an element shows, one after the other. */
export class Following {
  readonly #draw: () => void;
  #key = '';
  #follower: Live.Follower | null = null;
  #list: Element | null = null;
  #seen: IntersectionObserver | null = null;

  constructor(draw: () => void) {
    this.#draw = draw;
  }

  /**
   * Follows the list of a session while the list is in the page. Loads the script from `folder`
   * when the list is first in view.
   */
  follow(list: Element | null, session: Session, folder: URL): void {
    const { product, client: { service } } = session.settings;
    const choice = session.shown?.choice;
    const variables = choice && session.fresh.size < mostCounted && variablesFor(product, choice);
    const key = variables ? JSON.stringify([service, variables]) : '';
    if (this.#key !== key) {
      this.#key = key;
      this.#follower?.stop();
      this.#follower = null;
    } else if (list === this.#list) return;
    this.#list = list;
    this.#seen?.disconnect();
    if (this.#follower) this.#watch();
    else if (variables && list) {
      this.#seen = new IntersectionObserver(([entry], seen) => {
        if (!entry?.isIntersecting) return;
        seen.disconnect();
        // After a failure, some browsers load it anew.
        const script: Promise<typeof Live> = import(new URL(LIVE_SCRIPT, folder).href);
        void script.then(({ Follower }) => {
          if (this.#key !== key || this.#follower) return;
          this.#follower = new Follower({ session, variables, draw: this.#draw });
          this.#watch();
        }, () => {}); // the browser's console shows the error
      });
      this.#seen.observe(list);
    }
  }

  #watch(): void {
    if (this.#list) this.#follower?.watch(this.#list);
    else this.#follower?.stop();
  }
}

/**
 * Returns the variables of the subscription for a choice, or null if new comments do not go to its
 * first page.
 */
function variablesFor(product: string, choice: Choice): object | null {
  if (!isNewest(choice)) return null;
  const { filter } = variablesOf(product, choice, 0);
  return { product, ...(filter !== undefined && { filter }) };
}
