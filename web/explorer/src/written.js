// The visitor's last comment, for the examples that edit and delete one.
let last = null;

// noteWritten remembers the comment that an answer added or edited.
export function noteWritten({ data }) {
  const comment = data?.addComment?.comment ?? data?.editComment?.comment;
  if (comment?.id && comment.version) last = comment;
  if (data?.deleteComment?.comment) last = null;
}

// withWritten replaces the id and version in variables by those of the last comment.
export function withWritten(variables) {
  if (!last) return variables;
  return variables
    .replace(/"c_\w+"/, JSON.stringify(last.id))
    .replace(/("version": )\d+/, `$1${last.version}`);
}
