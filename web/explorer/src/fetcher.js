// One GraphQL request over HTTP, to the server that the page came from. The service has no subscriptions and defers
// nothing, so this is all of the protocol that the explorer needs.
export async function fetcher(request, options) {
  const response = await fetch('/graphql', {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/graphql-response+json, application/json;q=0.9',
      ...options?.headers,
    },
    body: JSON.stringify(request),
  });
  const type = response.headers.get('content-type') ?? '';
  if (type.includes('json')) return response.json();
  // Not an answer of the API: a proxy's page, say. Show what it was rather than a complaint about JSON.
  return { errors: [{ message: `HTTP ${response.status}: ${(await response.text()).trim()}` }] };
}
