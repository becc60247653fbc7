// Defines <talkback-comments>. Where there is no document, such as in Node, it does nothing.
import './talkback.js';

/** The class of the element; undefined where there is no document. */
export const TalkbackComments = globalThis.customElements?.get('talkback-comments');
