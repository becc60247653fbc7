// The line below everything else that says what just happened, or what a link brought.
import { newState } from './state.js';

const notice = newState(null);

// say shows paragraphs, and an address to be copied by hand where there is one.
export const say = (paragraphs, address) => notice.set({ paragraphs, address });

export const hush = () => notice.set(null);

export function Notice() {
  const shown = notice.use();
  return (
    <div className="notice" role="status">
      {shown && (
        <>
          <div>
            {shown.paragraphs.map((paragraph) => <p key={paragraph}>{paragraph}</p>)}
            {shown.address && <input aria-label="Address" readOnly value={shown.address} onFocus={(event) => event.target.select()} />}
          </div>
          <button type="button" onClick={hush}>Dismiss</button>
        </>
      )}
    </div>
  );
}
