/** Whether the reader writes, or is asked something, beside a part of the element. Then the focus stays where it is. */
export function writesBeside(part: Element | null): boolean {
  let at = document.activeElement;
  while (at?.shadowRoot?.activeElement) at = at.shadowRoot.activeElement;
  return !part?.contains(at) && !!at?.closest('input, select, textarea, iframe, [contenteditable], dialog, form[method=post]');
}
