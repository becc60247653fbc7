// The shop's session of a customer. The shop's server signs the token.
let opened;

export const session = {
  /** Signs the customer in, and returns their name. */
  async open() {
    opened = await (await fetch('/session', { method: 'POST' })).json();
    return opened.name;
  },
  /** Returns the customer's token. Each request calls it. */
  async token() {
    return opened.token;
  },
};
