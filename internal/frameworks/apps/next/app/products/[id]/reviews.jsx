'use client';

import { useEffect, useRef, useState } from 'react';
import 'talkback-comments/react';
import { session } from '../../../../session.js';

export function Reviews({ product, inside }) {
  const comments = useRef(null);
  const [name, setName] = useState(null);
  const [thanks, setThanks] = useState('');

  // React sets no functions, objects and listeners of an element that the server drew.
  useEffect(() => {
    const written = ({ detail }) => setThanks(`Thank you for ${detail.comment.rating} stars`);
    comments.current.strings = { write: 'Tell us what you think' };
    comments.current.addEventListener('talkback-written', written);
    return () => comments.current?.removeEventListener('talkback-written', written);
  }, []);
  useEffect(() => {
    Object.assign(comments.current, { customerName: name, token: name && (() => session.token()) });
  }, [name]);

  return (
    <>
      <button onClick={async () => setName(await session.open())}>Sign in</button>
      <p id="thanks">{thanks}</p>
      <h2>What customers say</h2>
      <talkback-comments
        ref={comments}
        product={product}
        endpoint="/graphql"
        navigate=""
        dangerouslySetInnerHTML={{ __html: inside }}
        suppressHydrationWarning
      />
    </>
  );
}
