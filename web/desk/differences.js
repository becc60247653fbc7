// Compares two versions of a text.

// differences returns the longest common subsequence of two lists of words as pairs: same, removed
// or added, and the text. Lists that would take too long become one removed and one added part.
function differences(before, after) {
  const parts = [];
  const add = (kind, words) => {
    if (words.length === 0) return;
    if (parts.at(-1)?.[0] === kind) parts.at(-1)[1] += words.join('');
    else parts.push([kind, words.join('')]);
  };
  let start = 0;
  while (start < Math.min(before.length, after.length) && before[start] === after[start]) start++;
  let end = 0;
  while (
    end < Math.min(before.length, after.length) - start &&
    before.at(-1 - end) === after.at(-1 - end)
  )
    end++;
  const old = before.slice(start, before.length - end);
  const young = after.slice(start, after.length - end);
  add('same', before.slice(0, start));
  if (old.length * young.length > 4_000_000) {
    add('removed', old);
    add('added', young);
  } else {
    walk(old, young, add);
  }
  add('same', before.slice(before.length - end));
  return parts;
}

function walk(old, young, add) {
  const width = young.length + 1;
  // length of the longest common subsequence from here on
  const common = new Uint16Array((old.length + 1) * width);
  for (let i = old.length - 1; i >= 0; i--) {
    for (let j = young.length - 1; j >= 0; j--) {
      common[i * width + j] = old[i] === young[j] ? common[(i + 1) * width + j + 1] + 1
        : Math.max(common[(i + 1) * width + j], common[i * width + j + 1]);
    }
  }
  let [i, j] = [0, 0];
  while (i < old.length || j < young.length) {
    if (i < old.length && j < young.length && old[i] === young[j]) {
      add('same', [old[i++]]);
      j++;
    } else if (
      j === young.length ||
      (i < old.length && common[(i + 1) * width + j] >= common[i * width + j + 1])
    ) {
      add('removed', [old[i++]]);
    } else {
      add('added', [young[j++]]);
    }
  }
}
