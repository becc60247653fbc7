// The editor's colours. Monaco requires named themes, defined in advance.
import * as monaco from 'monaco-graphql/esm/monaco-editor.js';
import palette from 'made:palette';

export const editorTheme = { light: 'talkback-light', dark: 'talkback-dark' };

for (const [scheme, name] of Object.entries(editorTheme)) {
  const colour = palette[scheme];
  const rule = (token, which) => ({ token, foreground: colour[which].slice(1) });
  monaco.editor.defineTheme(name, {
    base: scheme === 'dark' ? 'vs-dark' : 'vs',
    inherit: true,
    colors: {
      'editor.background': '#00000000', // transparent
      'editor.foreground': colour.text,
      'editorLineNumber.foreground': colour.quiet,
      'editorLineNumber.activeForeground': colour.text,
      'editorWidget.background': colour.panel,
      'editorHoverWidget.background': colour.panel,
      'editorSuggestWidget.background': colour.panel,
      'editorSuggestWidget.selectedBackground': colour['accent-tint'],
      'editorSuggestWidget.selectedForeground': colour.text,
      'editorSuggestWidget.highlightForeground': colour.accent,
      'editorLink.activeForeground': colour.accent,
      'textLink.foreground': colour.accent,
      'textLink.activeForeground': colour['accent-strong'],
      'list.hoverBackground': colour['accent-tint'],
      'list.highlightForeground': colour.accent,
      'menu.background': colour.panel,
      'menu.foreground': colour.text,
      'menu.selectionBackground': colour['accent-tint'],
      'menu.selectionForeground': colour.text,
      'input.background': colour.sunken,
      'quickInput.background': colour.panel,
      'quickInputList.focusBackground': colour['accent-tint'],
      'quickInputList.focusForeground': colour.text,
      'scrollbar.shadow': '#00000000',
      focusBorder: colour.focus,
      ...Object.fromEntries(
        [1, 2, 3, 4, 5, 6].map((depth) => [
          `editorBracketHighlight.foreground${depth}`,
          colour.quiet,
        ]),
      ),
    },
    rules: [
      rule('', 'text'),
      rule('comment', 'quiet'),
      rule('keyword', 'accent'),
      rule('key.identifier', 'text'),
      rule('argument.identifier', 'quiet'),
      rule('type.identifier', 'mark'),
      rule('variable', 'accent-strong'),
      rule('delimiter', 'quiet'),
      rule('number', 'accent'),
      rule('string', 'mark'),
      // Monaco's own rules for JSON are more specific than those above.
      rule('string.key.json', 'text'),
      rule('string.value.json', 'mark'),
      rule('keyword.json', 'accent'),
    ],
  });
}
