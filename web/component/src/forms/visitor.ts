// A visitor without an account, who votes by a token that the service gives to everyone.
import { request } from './changes';
import { keep, kept } from './drafts';
import type { Client, Problem } from '../client';

const placeOf = (endpoint: string): string => `talkback visitor ${endpoint}`;

/** The token that this browser keeps for a service, "" if there is none or it has expired. */
export function visitorToken(endpoint: string): string {
  const { token, expiresAt } = kept(placeOf(endpoint), { token: '', expiresAt: '' });
  return Date.parse(expiresAt) > Date.now() ? token : '';
}

/** Forgets the token, which the service refuses. False if there is none to forget. */
export function forgetVisitor(endpoint: string): boolean {
  const token = visitorToken(endpoint);
  keep(placeOf(endpoint), null);
  return token !== visitorToken(endpoint);
}

const asking = new Map<string, Promise<Problem | undefined>>();

/** Asks for a token and keeps it. Two votes at once are of one visitor. */
export function becomeVisitor(client: Client): Promise<Problem | undefined> {
  const { endpoint } = client;
  const asked = asking.get(endpoint) ?? ask(client).finally(() => asking.delete(endpoint));
  asking.set(endpoint, asked);
  return asked;
}

/** The mutation that makes a token. */
export const visitorMutation = 'mutation visitor{value:createVisitorToken{token expiresAt}}';

async function ask(client: Client): Promise<Problem | undefined> {
  const { value, problem } = await request<object>(client, visitorMutation, {});
  if (value) keep(placeOf(client.endpoint), value);
  return problem;
}
