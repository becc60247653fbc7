import { Component } from 'preact';
import type { Comment, Viewer, Vote } from '../answer';
import type { Desk } from '../desk';
import type { Texts } from '../texts';
import { change, type Outcome } from './changes';
import { wordsOf } from './form';

interface Props {
  readonly desk: Desk;
  readonly texts: Texts;
  readonly comment: Comment;
}

/** Whether to offer a vote about a comment: to customers, but not about their own. The service decides. */
export function mayVote(viewer: Viewer | null, { author }: Comment): boolean {
  return !!viewer?.customerId && author.customerId !== viewer.customerId;
}

/** Two buttons to say whether a comment is helpful; the one that is pressed takes the vote back. */
export class Votes extends Component<Props> {
  /** What is shown before the service has it; null if it has all. */
  #wish: Vote | null = null;
  #sending = false;
  #said = '';
  #trouble: readonly string[] = [];

  get #before(): Vote {
    return this.props.comment.votes.viewerVote ?? 'NONE';
  }

  #press(pressed: Vote): void {
    this.#wish = (this.#wish ?? this.#before) === pressed ? 'NONE' : pressed;
    this.#trouble = [];
    this.forceUpdate();
    if (!this.#sending) void this.#send();
  }

  /** Sends what is wished, one after the other, so that the last one counts. What fails is not shown any more. */
  async #send(): Promise<void> {
    this.#sending = true;
    let outcome: Outcome = {};
    for (let sent: Vote | null = null; this.#wish && this.#wish !== sent; ) {
      const { desk, texts, comment } = this.props;
      sent = this.#wish;
      outcome = await change(desk.client, 'voteOn', { id: comment.id, vote: sent });
      if (!outcome.comment) break;
      this.#said = texts.say(sent === 'NONE' ? 'vote.undone' : 'vote.saved');
      desk.seen({ kind: 'voted', comment: { ...comment, votes: { ...outcome.comment.votes, viewerVote: sent } } });
    }
    this.#sending = false;
    this.#wish = null;
    if (!outcome.comment) this.#fail(outcome);
    this.forceUpdate();
  }

  #fail({ problem }: Outcome): void {
    const { texts } = this.props;
    this.#said = '';
    this.#trouble = problem && problem.kind !== 'forbidden' ? wordsOf(texts, problem) : [texts.say('vote.refused')];
  }

  override render({ texts, comment: { votes } }: Props) {
    const vote = this.#wish ?? this.#before;
    const helpful = Math.max(0, votes.helpful + Number(vote === 'HELPFUL') - Number(this.#before === 'HELPFUL'));
    return (
      <span class="votes" part="votes">
        <button class="button quiet" type="button" aria-pressed={vote === 'HELPFUL'} onClick={() => this.#press('HELPFUL')}>
          {helpful > 0 ? texts.say('helpful', { n: texts.number(helpful) }) : texts.say('helpful.yes')}
        </button>
        <button class="button quiet" type="button" aria-pressed={vote === 'NOT_HELPFUL'} onClick={() => this.#press('NOT_HELPFUL')}>
          {texts.say('helpful.not')}
        </button>
        <span class="hidden" role="status">{this.#said}</span>
        {this.#trouble.length > 0 && <span role="alert">{this.#trouble.join(' ')}</span>}
      </span>
    );
  }
}
