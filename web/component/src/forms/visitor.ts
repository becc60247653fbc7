// Visitors: people without an account, who vote with a token that the service gives to anyone.
import { request } from './changes';
import { keep, kept } from './drafts';
import type { Client, Problem } from '../client';

const placeOf = (service: string): string => `talkback visitor ${service}`;

/** Returns the stored token for a service, or "" if there is none or it has expired. */
export function visitorToken(service: string): string {
  const { token, expiresAt } = kept(placeOf(service), { token: '', expiresAt: '' });
  return Date.parse(expiresAt) > Date.now() ? token : '';
}

/** Deletes a token that the service refused. Returns false if there was none. */
export function forgetVisitor(service: string): boolean {
  const token = visitorToken(service);
  keep(placeOf(service), null);
  return token !== visitorToken(service);
}

const asking = new Map<string, Promise<Problem | undefined>>();

/**
 * Requests a token and stores it. Concurrent votes share one request, so they count as one
 * visitor's.
 */
export function becomeVisitor(client: Client): Promise<Problem | undefined> {
  const { service } = client;
  const asked = asking.get(service) ?? ask(client).finally(() => asking.delete(service));
  asking.set(service, asked);
  return asked;
}

/** The mutation that makes a token. */
export const visitorMutation = 'mutation visitor{value:createVisitorToken{token expiresAt}}';

async function ask(client: Client): Promise<Problem | undefined> {
  const { value, problem } = await request<object>(client, visitorMutation, {});
  if (value) keep(placeOf(client.service), value);
  return problem;
}
