// Uses that the package's types accept and refuse. Nothing runs this file.
import { TalkbackComments, type TalkbackPart } from 'talkback-comments/react';

const element = document.querySelector('talkback-comments')!;
element.token = async () => 'token';
element.strings = { write: 'Tell us' };
element.addEventListener('talkback-error', ({ detail }) => detail.kind === 'offline' && detail.retryAfter.toFixed());
document.addEventListener('talkback-written', ({ detail }) => detail.comment.id.length);
if (TalkbackComments) document.body.append(new TalkbackComments());
export const part: TalkbackPart = 'comment';
export const styled = <talkback-comments product="lamp" navigate page-size={10} ref={(it) => { it?.refresh(); }} style={{ '--talkback-radius': 0 }} />;

// @ts-expect-error a number is no token
element.token = 5;
// @ts-expect-error there is no such part
export const wrong: TalkbackPart = 'coment';
// @ts-expect-error there is no such order
export const unordered = <talkback-comments product="lamp" order="best" />;
