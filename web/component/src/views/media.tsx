import { Component, createRef } from 'preact';
import type { Media } from '../answer';
import type { Texts } from '../texts';

interface Props {
  readonly texts: Texts;
  /** The language of the comment, and so of the alt texts. */
  readonly language: string;
  readonly media: readonly Media[];
}

/**
 * A picture or video with its accessible name: the author's alt text and its language, or a number.
 */
interface Named extends Media {
  readonly lang: string | undefined;
}

const named = ({ texts, language }: Props, m: Media, at: number): Named =>
  m.alt
    ? { ...m, lang: language }
    : {
        ...m,
        lang: undefined,
        alt: texts.say(m.kind === 'VIDEO' ? 'media.video' : 'media.picture', { n: String(at + 1) }),
      };

/** Reports whether a click has a meaning of its own, such as to open a new tab. */
export function isModified({ metaKey, ctrlKey, shiftKey, altKey }: MouseEvent): boolean {
  return metaKey || ctrlKey || shiftKey || altKey;
}

/** Thumbnails of pictures and videos that open a lightbox. Without this script they are links. */
export class Pictures extends Component<Props, { at: number }> {
  override state = { at: -1 };

  #move = (at: number): void => this.setState({ at });

  override render(props: Props, { at }: { at: number }) {
    const media = props.media.map((m, i) => named(props, m, i));
    return (
      <>
        <ul class="media" part="media">
          {media.map((m, i) => (
            <li key={i}>
              <a
                href={m.url}
                class={m.kind === 'VIDEO' ? 'video' : undefined}
                onClick={(event) => this.#open(event, i)}
              >
                {m.kind === 'VIDEO' ? (
                  <span class="hidden" lang={m.lang}>{m.alt}</span>
                ) : (
                  <img
                    src={m.url}
                    alt={m.alt}
                    lang={m.lang}
                    width={96}
                    height={96}
                    loading="lazy"
                  />
                )}
              </a>
            </li>
          ))}
        </ul>
        {media[at] && <Lightbox texts={props.texts} media={media} at={at} move={this.#move} />}
      </>
    );
  }

  #open(event: MouseEvent, at: number): void {
    if (isModified(event)) return;
    event.preventDefault();
    this.#move(at);
  }
}

/**
 * A picture or video in large. The dialog traps the focus, closes on Escape, and returns the focus.
 */
class Lightbox extends Component<{
  texts: Texts;
  media: readonly Named[];
  at: number;
  move(at: number): void;
}> {
  readonly #dialog = createRef<HTMLDialogElement>();

  override componentDidMount(): void {
    const dialog = this.#dialog.current as HTMLDialogElement;
    dialog.showModal();
    dialog.focus(); // a focused button would react to the key that opened the dialog
    dialog.scrollTop = 0; // in a low window, focusing a button may have scrolled the picture away
  }

  #step(by: number): void {
    const { media, at, move } = this.props;
    move((at + by + media.length) % media.length);
  }

  #key = (event: KeyboardEvent): void => {
    const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (by && !(event.target instanceof HTMLVideoElement)) {
      this.#step(this.props.texts.dir === 'rtl' ? -by : by);
    }
  };

  override render() {
    const { texts, media, at, move } = this.props;
    const { kind, url, alt, lang } = media[at] as Named;
    return (
      <dialog
        ref={this.#dialog}
        class="dialog lightbox"
        part="lightbox"
        tabIndex={-1}
        aria-label={alt}
        onClose={() => move(-1)}
        onKeyDown={this.#key}
      >
        {kind === 'VIDEO' ? (
          <video key={url} src={url} controls aria-label={alt} lang={lang} />
        ) : (
          <img key={url} src={url} alt={alt} lang={lang} />
        )}
        <p role="status">
          {lang && [<bdi lang={lang}>{alt}</bdi>, ' ']}
          {at + 1}/{media.length}
        </p>
        <div class="buttons">
          {media.length > 1 &&
            [-1, 1].map((by) => (
              <button key={by} class="button quiet" type="button" onClick={() => this.#step(by)}>
                {texts.say(by < 0 ? 'pages.previous' : 'pages.next')}
              </button>
            ))}
          <button class="button" type="button" onClick={() => this.#dialog.current?.close()}>
            {texts.say('media.close')}
          </button>
        </div>
      </dialog>
    );
  }
}
