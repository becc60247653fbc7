// Guesses the language of a text by its script and its most frequent words. The form shows the
// guess and the author can change it, so short word lists suffice.

/**
 * Scripts used by one language, or mostly by one. Japanese mixes its own script with Chinese
 * characters.
 */
const scripts: readonly (readonly [string, RegExp])[] = [
  ['ja', /[\u3040-\u30ff]/g],
  ['zh', /\p{sc=Han}/gu],
  ['ko', /\p{sc=Hang}/gu],
  ['ar', /\p{sc=Arab}/gu],
  ['uk', /[іїє]/gi],
  ['ru', /\p{sc=Cyrl}/gu],
  ['el', /\p{sc=Grek}/gu],
  ['he', /\p{sc=Hebr}/gu],
  ['th', /\p{sc=Thai}/gu],
  ['hi', /\p{sc=Deva}/gu],
];

/** Frequent words of languages in Latin script, and letters that only one of them uses. */
const words: Readonly<Record<string, string>> = {
  en: 'the and is it this was very not for with have of my but are i so great good',
  de: 'der die das und ist nicht ich ein eine mit sehr für aber auch es den zu war gut ß',
  fr: 'le les et est pas je un une très pour avec mais ce il des du bien bon ç œ',
  es: 'el los y es no muy un una para con pero lo las que del bien mi buen ñ ¿ ¡',
  it: 'il e è non di che un una molto per con ma sono ho della ottimo gli si bene',
  nl: 'de het en is niet een van ik zeer voor met maar ook goed heel mijn dit erg dat',
  pt: 'o os e é não muito um uma para com mas do da que eu meu bom as ã õ',
  pl: 'i jest nie się na do bardzo z to że ale dla w mi jak dobry polecam ł ą ę ż',
  sv: 'och är inte det en ett jag mycket för med men den på som bra så av å',
};

/** Returns the language tag of a text, or "" if the text is too short to tell. */
export function languageOfText(text: string): string {
  const letters = text.match(/\p{L}/gu)?.length ?? 0;
  const script = scripts.find(([, form]) => (text.match(form)?.length ?? 0) > letters / 4)?.[0];
  // Persian adds letters to the Arabic script
  if (script) return script === 'ar' && /[پچژگ]/.test(text) ? 'fa' : script;
  const found = text.toLowerCase().match(/\p{L}+|[¿¡]/gu) ?? [];
  const scores = Object.entries(words)
    .map(([tag, list]): [string, number] => {
      const known = list.split(' ');
      const foreign = known.filter(
        (word) => /^[^a-z]$/.test(word) && text.toLowerCase().includes(word),
      ).length;
      return [tag, found.filter((word) => known.includes(word)).length + 2 * foreign];
    })
    .sort(([, a], [, b]) => b - a);
  const [[tag, most], [, second]] = scores as [[string, number], [string, number]];
  return most >= 2 && most > second ? tag : '';
}
