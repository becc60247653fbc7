import { StrictMode, useState } from 'react';
import { createRoot } from 'react-dom/client';
import 'talkback-comments/react';
import { session } from './session.js';

function Reviews({ product }: { product: string }) {
  const [name, setName] = useState<string>();
  const [thanks, setThanks] = useState('');
  return (
    <>
      <h1>A lamp</h1>
      <button onClick={async () => setName(await session.open())}>Sign in</button>
      <p id="thanks">{thanks}</p>
      <h2>What customers say</h2>
      <talkback-comments
        product={product}
        endpoint="/graphql"
        token={name && (() => session.token())}
        customerName={name}
        strings={{ write: 'Tell us what you think' }}
        ontalkback-written={({ detail }) => setThanks(`Thank you for ${detail.comment.rating} stars`)}
      />
    </>
  );
}

createRoot(document.getElementById('shop')!).render(<StrictMode><Reviews product="lamp" /></StrictMode>);
