export const session: { open(): Promise<string>; token(): Promise<string> };
