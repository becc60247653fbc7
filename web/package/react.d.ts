// <talkback-comments> in JSX, with the types of React 18 or 19. React 18 sets only attributes, so
// pass functions through a ref.
import type { DetailedHTMLProps, HTMLAttributes } from 'react';
import type {
  TalkbackCommentsAttributes,
  TalkbackCommentsElement,
  TalkbackEvents,
  Token,
} from './index.js';

export * from './index.js';

/** React 19 adds a listener for a property named "on" and the event. */
type Listeners = {
  [Name in keyof TalkbackEvents as `on${Name}`]?: (event: TalkbackEvents[Name]) => void;
};

/** The props of the element. */
export type TalkbackCommentsProps = Omit<
  DetailedHTMLProps<HTMLAttributes<TalkbackCommentsElement>, TalkbackCommentsElement>,
  keyof TalkbackCommentsAttributes
> &
  TalkbackCommentsAttributes &
  Listeners & { token?: Token | null | undefined; customerName?: string | null | undefined };

declare module 'react' {
  namespace JSX {
    interface IntrinsicElements {
      'talkback-comments': TalkbackCommentsProps;
    }
  }
  interface CSSProperties {
    [property: `--talkback-${string}`]: string | number | undefined;
  }
}
