import { TalkbackComments } from './element';

// A page may load the script twice; the first one stays. Node may import it, and has no elements.
if (globalThis.customElements && !customElements.get('talkback-comments')) customElements.define('talkback-comments', TalkbackComments);
