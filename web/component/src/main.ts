import { TalkbackComments } from './element';

// A page may load the script twice; the first definition stays. Node can import it, and has no
// custom elements.
if (globalThis.customElements && !customElements.get('talkback-comments')) {
  customElements.define('talkback-comments', TalkbackComments);
}
