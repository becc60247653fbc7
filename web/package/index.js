// Defines <talkback-comments>. Does nothing where there is no document, such as in Node.
import './talkback.js';

/** The class of the element; undefined where there is no document. */
export const TalkbackComments = globalThis.customElements?.get('talkback-comments');
