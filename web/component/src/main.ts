import { TalkbackComments } from './element';

// A page may load the script twice; the first one stays.
if (!customElements.get('talkback-comments')) customElements.define('talkback-comments', TalkbackComments);
