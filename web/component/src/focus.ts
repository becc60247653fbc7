/**
 * Reports whether the reader is typing or answering a dialog outside of a part of the element. The
 * focus must then stay.
 */
export function writesBeside(part: Element | null): boolean {
  let at = document.activeElement;
  while (at?.shadowRoot?.activeElement) at = at.shadowRoot.activeElement;
  return (
    !part?.contains(at) &&
    !!at?.closest('input, select, textarea, iframe, [contenteditable], dialog, form[method=post]')
  );
}
