import { Component, createRef } from 'preact';
import type { FormProps } from '../desk';
import { isEmptyProduct, type Props, type View, viewerOf } from '../view';
import { adopt, draftFor, newDraft, placeOf } from './drafts';
import { CommentForm, isInUse, openForm } from './form';

/**
 * The section of the form. The server sends it empty and keeps its height; without scripts it is
 * not shown. It is also hidden while the viewer is unknown, such as after an error.
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

/** Reports whether nobody can write here. */
function isHidden(view: View): boolean {
  const viewer = viewerOf(view);
  return viewer ? viewer.cannotWriteReason === 'WRITING_OFF' : view.desk !== null;
}

/**
 * The button at the top that leads to the form or to the hint how to sign in, and the result of the
 * last change. The server sends only an empty space of its height.
 */
export function Compose({ view }: Props) {
  const { desk, said, texts } = view;
  const viewer = viewerOf(view);
  return (
    <>
      <div class="compose" part="compose" hidden={isHidden(view)}>
        {desk && viewer && !isEmptyProduct(view) && (
          <button class="button" type="button">
            {texts.say('write')}
          </button>
        )}
      </div>
      {desk && <p class="said" role="status">{said}</p>}
    </>
  );
}

/** The form, or the button that opens it. */
class Place extends Component<FormProps> {
  readonly #button = createRef<HTMLButtonElement>();

  #open = (): void => {
    const { desk, viewer } = this.props;
    // Another element may have saved a draft.
    openForm(placeOf(desk), draftFor(viewer, placeOf(desk)) ?? newDraft(desk));
    this.forceUpdate();
  };

  #close = (leads: boolean): void => this.forceUpdate(() => leads && this.#button.current?.focus());

  override render({ desk, texts, viewer }: FormProps) {
    adopt(desk, isInUse);
    const isOpen = !!draftFor(viewer, placeOf(desk));
    return (
      <>
        {!viewer?.mayWrite && (
          <slot name="sign-in">
            <p>
              {texts.say(
                viewer?.cannotWriteReason === 'TOKEN_REFUSED' ? 'write.again' : 'write.in',
              )}
            </p>
          </slot>
        )}
        {isOpen ? (
          <>
            <h2>{texts.say('write')}</h2>
            <CommentForm desk={desk} texts={texts} viewer={viewer} close={this.#close} />
          </>
        ) : (
          viewer?.mayWrite && (
            <button ref={this.#button} class="button primary" type="button" onClick={this.#open}>
              {texts.say('write')}
            </button>
          )
        )}
      </>
    );
  }
}
