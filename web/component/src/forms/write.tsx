import { Component, createRef } from 'preact';
import type { FormProps } from '../desk';
import { isEmptyProduct, type Props, type View, viewerOf } from '../view';
import { adopt, draftFor, newDraft, placeOf } from './drafts';
import { CommentForm, isInUse, openForm } from './form';

/**
 * The place of the form. The server sends it empty: its height is kept, and without scripts it is not shown.
 * Nor is it while nothing is known of the viewer, such as after an error.
 */
export function Write({ view }: Props) {
  const { desk, texts } = view;
  const viewer = viewerOf(view);
  return (
    <section class="write" part="write" aria-label={texts.say('write')} hidden={isHidden(view)}>
      {desk && viewer && <Place key={placeOf(desk)} desk={desk} texts={texts} viewer={viewer} />}
    </section>
  );
}

/** Whether nobody can write here. */
function isHidden(view: View): boolean {
  const viewer = viewerOf(view);
  return viewer ? viewer.cannotWriteReason === 'WRITING_OFF' : view.desk !== null;
}

/**
 * The way to the form from the top, and what became of the last one. The server sends its room alone, as it does for the form. The
 * element leads from the button to the form, or to what says how to sign in.
 */
export function Compose({ view }: Props) {
  const { desk, said, texts } = view;
  const viewer = viewerOf(view);
  return (
    <>
      <div class="compose" part="compose" hidden={isHidden(view)}>
        {desk && viewer && !isEmptyProduct(view) && <button class="button" type="button">{texts.say('write')}</button>}
      </div>
      {desk && <p class="said" role="status">{said}</p>}
    </>
  );
}

/** A button that opens the form, or the form. */
class Place extends Component<FormProps> {
  readonly #button = createRef<HTMLButtonElement>();

  #open = (): void => {
    const { desk, viewer } = this.props;
    openForm(placeOf(desk), draftFor(viewer, placeOf(desk)) ?? newDraft(desk)); // another element may have begun one
    this.forceUpdate();
  };

  #close = (leads: boolean): void => this.forceUpdate(() => leads && this.#button.current?.focus());

  override render({ desk, texts, viewer }: FormProps) {
    adopt(desk, isInUse);
    const isOpen = !!draftFor(viewer, placeOf(desk));
    return (
      <>
        {!viewer?.mayWrite && <slot name="sign-in"><p>{texts.say(viewer?.cannotWriteReason === 'TOKEN_REFUSED' ? 'write.again' : 'write.in')}</p></slot>}
        {isOpen ? (
          <>
            <h2>{texts.say('write')}</h2>
            <CommentForm desk={desk} texts={texts} viewer={viewer} close={this.#close} />
          </>
        ) : viewer?.mayWrite && <button ref={this.#button} class="button primary" type="button" onClick={this.#open}>{texts.say('write')}</button>}
      </>
    );
  }
}
