import { Reviews } from './reviews.jsx';

export default async function Page({ params, searchParams }) {
  const { id } = await params;
  const query = new URLSearchParams(await searchParams);
  query.set('path', `/products/${id}`);
  const drawn = await fetch(`${process.env.TALKBACK_URL}/products/${id}/element?${query}`, {
    headers: { 'Accept-Language': 'en' },
    cache: 'no-store',
  });
  return (
    <>
      <h1>A lamp</h1>
      <Reviews product={decodeURIComponent(id)} inside={await drawn.text()} />
    </>
  );
}
