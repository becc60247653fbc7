// The line at the bottom with messages: about the last action, or about a link.
import { newState } from './state.js';

const notice = newState(null);

// say shows paragraphs, and optionally an address to copy by hand.
export const say = (paragraphs, address) => notice.set({ paragraphs, address });

export const hush = () => notice.set(null);

export function Notice() {
  const shown = notice.use();
  return (
    <div className="notice" role="status">
      {shown && (
        <>
          <div>
            {shown.paragraphs.map((paragraph) => (
              <p key={paragraph}>{paragraph}</p>
            ))}
            {shown.address && (
              <input
                aria-label="Address"
                readOnly
                value={shown.address}
                onFocus={(event) => event.target.select()}
              />
            )}
          </div>
          <button type="button" onClick={hush}>Dismiss</button>
        </>
      )}
    </div>
  );
}
