import { StrictMode, useState } from 'react';
import { createRoot } from 'react-dom/client';
import 'talkback-comments/react';
import { session } from './session.js';

function Avis({ product }: { product: string }) {
  const [name, setName] = useState<string>();
  return (
    <>
      <h1>Une lampe</h1>
      <button onClick={async () => setName(await session.open())}>Se connecter</button>
      <h2>Ce que disent nos clients</h2>
      <talkback-comments product={product} endpoint="/graphql" token={name && (() => session.token())} customerName={name} />
    </>
  );
}

createRoot(document.getElementById('shop')!).render(<StrictMode><Avis product="lampe" /></StrictMode>);
