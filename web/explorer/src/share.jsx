// The button that copies a link to the current query and variables, without headers.
import { ToolbarButton, pick, useGraphiQL } from '@graphiql/react';
import { addressOf, longest } from './link.js';
import { say } from './notice.jsx';

export function ShareButton() {
  const { queryEditor, variableEditor, operations, operationName } = useGraphiQL(
    pick('queryEditor', 'variableEditor', 'operations', 'operationName'),
  );
  const share = () =>
    copy(
      addressOf(location.href, {
        query: queryEditor.getValue(),
        variables: variableEditor.getValue(),
        operationName: operations?.length > 1 ? operationName : null,
      }),
    );
  return (
    <ToolbarButton onClick={share} label="Copy a link to this query">
      <svg
        className="graphiql-toolbar-icon"
        viewBox="0 0 24 24"
        fill="none"
        stroke="currentColor"
        strokeWidth="1.8"
        strokeLinecap="round"
        aria-hidden="true"
      >
        <path d="M10 14a4.5 4.5 0 0 0 6.4 0l3.2-3.2a4.5 4.5 0 0 0-6.4-6.4L12 5.6" />
        <path d="M14 10a4.5 4.5 0 0 0-6.4 0l-3.2 3.2a4.5 4.5 0 0 0 6.4 6.4l1.2-1.2" />
      </svg>
    </ToolbarButton>
  );
}

async function copy(address) {
  if (address.length > longest) {
    say([
      `The link would have ${address.length.toLocaleString()} characters. ` +
        `Proxies and chats cut what is longer than ${longest.toLocaleString()}, ` +
        'so send the query itself.',
    ]);
    return;
  }
  try {
    await navigator.clipboard.writeText(address);
    say(['Link copied. It holds the query and its variables, and no headers.']);
  } catch { // no permission, or a page served without TLS
    say(['Copy this link. It holds the query and its variables, and no headers.'], address);
  }
}
