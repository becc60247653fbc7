import { Component, type ComponentChildren, createRef } from 'preact';
import type { Comment, Viewer } from '../answer';
import type { Problem } from '../client';
import type { FormProps } from '../desk';
import { type View, viewerOf } from '../view';
import { change } from './changes';
import { draftFor, draftOf, isOwn, placeOf, save } from './drafts';
import { CommentForm, openForm, wordsOf } from './form';

interface Props {
  /** A view without a desk shows the comment read-only, as the first render must. */
  readonly view: View;
  readonly comment: Comment;
  /**
   * The id attribute, for a comment of the list. The same comment may also be shown above the list.
   */
  readonly id?: string;
  /** Renders the comment with its action buttons. */
  content(actions: ComponentChildren): ComponentChildren;
}

/** A comment of the list. Its author can edit and delete it in place. */
export class Entry extends Component<Props, { asked: number }> {
  readonly #article = createRef<HTMLElement>();
  override state = { asked: 0 };
  /** Number of times the author asked for deletion. */
  #times = 0;

  #edit = (): void => {
    const { view, view: { desk }, comment } = this.props;
    // Another element may have saved a draft.
    if (desk) {
      openForm(
        placeOf(desk, comment.id),
        draftFor(viewerOf(view), placeOf(desk, comment.id)) ?? draftOf(comment),
      );
    }
    this.forceUpdate();
  };

  #close = (leads: boolean): void =>
    this.forceUpdate(() => leads && this.#article.current?.querySelector('button')?.focus());

  #askDeletion = (): void => this.setState({ asked: ++this.#times });

  /**
   * A dialog fires "close" a moment after it returned the focus. The next dialog may be open by
   * then.
   */
  #closeDeletion = (which: number): void =>
    this.setState(({ asked }) => (asked === which ? { asked: 0 } : null));

  override render(
    { view, view: { desk, texts }, comment, id, content }: Props,
    { asked }: { asked: number },
  ) {
    const viewer = viewerOf(view);
    const mine = desk !== null && mayChange(viewer, comment);
    // A draft stays visible when the token expires.
    const edits =
      desk !== null && (mine || !viewer?.mayWrite) && !!draftFor(viewer, placeOf(desk, comment.id));
    const actions = mine && (
      <span class="actions">
        <button class="button quiet" type="button" onClick={this.#edit}>
          {texts.say('write.edit')}
        </button>
        <button class="button quiet" type="button" onClick={this.#askDeletion}>
          {texts.say('write.delete')}
        </button>
      </span>
    );
    return (
      <article
        ref={this.#article}
        class="comment"
        part="comment"
        id={id}
        data-version={comment.version}
      >
        {edits ? (
          <CommentForm
            desk={desk}
            texts={texts}
            viewer={viewer}
            comment={comment}
            close={this.#close}
          />
        ) : (
          content(actions)
        )}
        {mine && asked > 0 && (
          <Deletion
            key={asked}
            desk={desk}
            texts={texts}
            viewer={viewer}
            comment={comment}
            close={() => this.#closeDeletion(asked)}
          />
        )}
      </article>
    );
  }
}

/**
 * Reports whether to offer changes of a comment: to its author and to moderators. The service
 * decides.
 */
function mayChange(viewer: Viewer | null, comment: Comment): boolean {
  return !!viewer?.mayWrite && (viewer.isModerator || isOwn(comment, viewer));
}

interface Deleting {
  readonly busy: boolean;
  readonly problem: Problem | null;
}

/** Asks for confirmation and deletes a comment. */
class Deletion extends Component<FormProps & { comment: Comment; close(): void }, Deleting> {
  readonly #dialog = createRef<HTMLDialogElement>();
  override state: Deleting = { busy: false, problem: null };

  override componentDidMount(): void {
    this.#dialog.current?.showModal();
  }

  #delete = async (event: Event): Promise<void> => {
    event.preventDefault();
    if (this.state.busy) return;
    this.setState({ busy: true, problem: null });
    const { desk, comment } = this.props;
    const { problem } = await change(desk.client, 'delete', { id: comment.id });
    if (problem) {
      this.setState({ busy: false, problem });
      return this.#dialog.current?.showModal(); // Escape may have closed it
    }
    // A comment that was not found is gone too.
    this.#dialog.current?.close();
    save(placeOf(desk, comment.id), null);
    desk.written({ kind: 'deleted', comment }, true);
  };

  override render() {
    const { texts, close } = this.props;
    const { busy, problem } = this.state;
    return (
      <dialog
        ref={this.#dialog}
        class="dialog"
        aria-labelledby="deletion"
        onClose={() => busy || close()}
      >
        <form method="dialog" onSubmit={this.#delete}>
          <h2 id="deletion">{texts.say('write.delete.ask')}</h2>
          <p>{texts.say('write.delete.hint')}</p>
          {problem && <p class="error" role="alert">{wordsOf(texts, problem).join(' ')}</p>}
          <div class="buttons">
            <button class="button danger" aria-disabled={busy || undefined}>
              {texts.say(busy ? 'write.busy' : 'write.delete')}
            </button>
            <button
              class="button quiet"
              type="button"
              autofocus
              onClick={() => this.#dialog.current?.close()}
            >
              {texts.say('write.cancel')}
            </button>
          </div>
        </form>
      </dialog>
    );
  }
}
