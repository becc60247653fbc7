// The inside of the drawer of plans, which few readers open: loaded when one does.
import { Fragment, h } from 'preact';
import type * as Plan from './plan';
import { learn } from './texts';

/** The name of the script, which changes with what is in it: that of another release of the service is none for this one. */
declare const PLAN_SCRIPT: string;

let inside: typeof Plan | null = null;
let sheet: CSSStyleSheet | undefined;
let loading: Promise<void> | undefined;

/** What is in the drawer; null before it is loaded. */
export function loadedInside(): typeof Plan | null {
  return inside;
}

/** Loads what is in the drawer from a folder, with its looks. It never throws: without it, the drawer has the cost and a sentence. */
export async function loadInside(folder: URL, shadow: ShadowRoot): Promise<void> {
  loading ??= load(folder).catch((error: unknown) => {
    loading = undefined;
    console.warn(`<talkback-comments>: no plans: ${error}`);
  });
  await loading;
  if (inside && !shadow.adoptedStyleSheets.includes(sheet as CSSStyleSheet)) shadow.adoptedStyleSheets.push(sheet as CSSStyleSheet);
}

async function load(folder: URL): Promise<void> {
  const script: { default(preact: object): typeof Plan } = await import(new URL(PLAN_SCRIPT, folder).href);
  inside = script.default({ Fragment, h }); // two copies of Preact would mix up their nodes
  learn(inside.english);
  sheet = new CSSStyleSheet();
  sheet.replaceSync(inside.look);
}
