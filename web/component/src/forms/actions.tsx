import type { Comment } from '../answer';
import type { FormProps } from '../desk';

/** What the viewer may do with a comment: nothing, until there are forms. */
export function Actions(_: FormProps & { comment: Comment }) {
  return null;
}
