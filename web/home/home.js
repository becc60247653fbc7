// Adds a copy button to each code sample of the home page.
for (const pre of document.querySelectorAll('.code pre')) {
  const button = document.createElement('button');
  button.type = 'button';
  button.className = 'copy';
  const label = document.createElement('span');
  label.setAttribute('role', 'status');
  const say = (word) => {
    label.textContent = word;
  };
  say('Copy');
  button.append(label);
  button.setAttribute('aria-description', pre.getAttribute('aria-label'));
  let back;
  button.addEventListener('click', async () => {
    clearTimeout(back);
    say((await copy(pre)) ? 'Copied' : 'Press Ctrl+C');
    back = setTimeout(say, 2000, 'Copy');
  });
  pre.after(button);
}

// Copies the text of an element and reports whether it succeeded. navigator.clipboard exists only
// on HTTPS and localhost. Elsewhere the text is selected and copied by an older command.
async function copy(element) {
  try {
    await navigator.clipboard.writeText(element.textContent);
    return true;
  } catch {
    getSelection().selectAllChildren(element);
    return document.execCommand('copy');
  }
}
