import { Component } from 'preact';
import type { Comment, Viewer, Vote } from '../answer';
import type { Desk } from '../desk';
import type { Texts } from '../texts';
import { change, type Outcome } from './changes';
import { isOwn } from './drafts';
import { wordsOf } from './form';
import { becomeVisitor, visitorToken } from './visitor';

interface Props {
  readonly desk: Desk;
  readonly texts: Texts;
  readonly viewer: Viewer;
  readonly comment: Comment;
}

/**
 * Reports whether to offer votes: to people who can vote, on comments of others. The service
 * decides.
 */
export function mayVote(viewer: Viewer, comment: Comment): boolean {
  return viewer.cannotVoteReason !== 'CUSTOMER_TOKEN_REQUIRED' && !isOwn(comment, viewer);
}

/**
 * Sends a vote. Without a token from the page, the person becomes a visitor first. If the service
 * refuses the visitor's token, the vote is sent again with a new one, which another vote may have
 * got meanwhile.
 */
async function vote(
  { client }: Desk,
  viewer: Viewer,
  input: { id: string; vote: Vote },
): Promise<Outcome> {
  const send = () => change(client, 'voteOn', input);
  if (viewer.customerId || !client.visits()) return send();
  const becomes = async (): Promise<Outcome> => {
    const problem = await becomeVisitor(client);
    return problem ? { problem } : send();
  };
  const token = visitorToken(client.service);
  if (!token) return becomes();
  const outcome = await send();
  if (outcome.problem?.kind !== 'unauthenticated' || !client.visits()) return outcome;
  return visitorToken(client.service) === token ? becomes() : send();
}

/** Two buttons to rate a comment as helpful or not. Pressing the chosen one takes the vote back. */
export class Votes extends Component<Props> {
  /** The vote that the reader chose and that is not stored yet; null if there is none. */
  #wish: Vote | null = null;
  #sending = false;
  #said = '';
  #trouble: readonly string[] = [];

  get #before(): Vote {
    return this.props.comment.votes.viewerVote ?? 'NONE';
  }

  /**
   * Returns the number of helpful votes if `vote` is the reader's. The service's count may lag
   * behind the vote.
   */
  #helpful(vote: Vote): number {
    return Math.max(
      0,
      this.props.comment.votes.helpful +
        Number(vote === 'HELPFUL') -
        Number(this.#before === 'HELPFUL'),
    );
  }

  #press = (pressed: Vote) => ({ detail }: MouseEvent): void => {
    if (detail > 1) return; // a double click counts as one
    this.#wish = (this.#wish ?? this.#before) === pressed ? 'NONE' : pressed;
    this.#trouble = [];
    this.#said = ''; // cleared first, so that screen readers announce the same text again
    this.forceUpdate();
    if (!this.#sending) void this.#send();
  };

  /**
   * Sends the chosen vote, and again if the reader changed it meanwhile. A vote that failed is no
   * longer shown.
   */
  async #send(): Promise<void> {
    this.#sending = true;
    let outcome: Outcome = {};
    for (let sent: Vote | null = null; this.#wish && this.#wish !== sent; ) {
      const { desk, texts, viewer, comment } = this.props;
      sent = this.#wish;
      outcome = await vote(desk, viewer, { id: comment.id, vote: sent });
      if (!outcome.comment) break;
      this.#said = texts.say(sent === 'NONE' ? 'vote.undone' : 'vote.saved');
      desk.seen({
        kind: 'voted',
        comment: { ...comment, votes: { helpful: this.#helpful(sent), viewerVote: sent } },
      });
    }
    this.#sending = false;
    this.#wish = null;
    if (!outcome.comment) {
      const { problem } = outcome;
      const { texts } = this.props;
      this.#said = '';
      this.#trouble =
        problem && problem.kind !== 'forbidden'
          ? wordsOf(texts, problem)
          : [texts.say('vote.refused')];
    }
    this.forceUpdate();
  }

  override render({ texts }: Props) {
    const vote = this.#wish ?? this.#before;
    const helpful = this.#helpful(vote);
    const button = (value: Vote, text: string) => (
      <button
        class="button quiet"
        type="button"
        aria-pressed={vote === value}
        onClick={this.#press(value)}
      >
        {text}
      </button>
    );
    return (
      <span class="votes" part="votes">
        {button(
          'HELPFUL',
          texts.say(helpful > 0 ? 'helpful' : 'helpful.yes', { n: texts.number(helpful) }),
        )}
        {button('NOT_HELPFUL', texts.say('helpful.not'))}
        <span class="hidden" role="status">{this.#said}</span>
        {this.#trouble.length > 0 && <span role="alert">{this.#trouble.join(' ')}</span>}
      </span>
    );
  }
}
