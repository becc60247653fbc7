import { Reviews } from './reviews.jsx';

export default async function Page({ params, searchParams }) {
  const { id } = await params;
  const given = Object.entries(await searchParams); // several values of a name are a list
  const query = new URLSearchParams(
    given.flatMap(([name, values]) => [values].flat().map((value) => [name, value])),
  );
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
