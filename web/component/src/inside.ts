// Loads the content of the plan drawer when a reader opens it, which few do.
import { Fragment, h } from 'preact';
import type * as Plan from './plan';
import { learn } from './texts';

/**
 * The file name of the script, with a hash of its content. A script of another release has another
 * name.
 */
declare const PLAN_SCRIPT: string;

let inside: typeof Plan | null = null;
let sheet: CSSStyleSheet | undefined;
let loading: Promise<void> | undefined;

/** Returns the module with the drawer's content, or null before it is loaded. */
export function loadedInside(): typeof Plan | null {
  return inside;
}

/**
 * Loads the drawer's script from `folder` and adds its style sheet. Never throws: without it, the
 * drawer shows only the cost and a sentence.
 */
export async function loadInside(folder: URL, shadow: ShadowRoot): Promise<void> {
  loading ??= load(folder).catch((error: unknown) => {
    loading = undefined;
    console.warn(`<talkback-comments>: no plans: ${error}`);
  });
  await loading;
  if (inside && !shadow.adoptedStyleSheets.includes(sheet as CSSStyleSheet)) {
    shadow.adoptedStyleSheets.push(sheet as CSSStyleSheet);
  }
}

async function load(folder: URL): Promise<void> {
  const script: { default(preact: object): typeof Plan } = await import(
    new URL(PLAN_SCRIPT, folder).href
  );
  // With a second copy of Preact, its nodes could not be mixed with the element's.
  inside = script.default({ Fragment, h });
  learn(inside.english);
  sheet = new CSSStyleSheet();
  sheet.replaceSync(inside.look);
}
