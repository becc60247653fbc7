import type { ComponentChildren } from 'preact';
import { changed, isFiltered } from '../address';
import type { Comment, Reply } from '../answer';
import { latest, waits } from '../desk';
import { Entry } from '../forms/entry';
import { mayVote, Votes } from '../forms/votes';
import type { Texts } from '../texts';
import {
  isEmptyProduct,
  linkTo,
  listOf,
  mostCounted,
  productOf,
  type Props,
  type View,
  viewerOf,
} from '../view';
import { Clear } from './filters';
import { Pictures } from './media';
import { Stars } from './summary';

/**
 * The most helpful positive and critical comment, or else the newest. Shown above the first page of
 * all comments.
 */
export function Highlights({ view }: Props) {
  const { praise, complaint } = productOf(view) ?? {};
  if (!praise && !complaint) return null;
  return (
    <section class="highlights" part="highlights">
      {praise && <Highlight view={view} kind="praise" comment={praise} />}
      {complaint && <Highlight view={view} kind="complaint" comment={complaint} />}
    </section>
  );
}

function Highlight({
  view,
  kind,
  comment,
}: Props & { kind: 'praise' | 'complaint'; comment: Comment }) {
  return (
    <div class={`highlight ${kind}`}>
      <h3>
        {view.texts.say(
          comment.votes.helpful > (comment.votes.notHelpful ?? 0) ? `${kind}.helpful` : kind,
        )}
      </h3>
      <article class="comment" part="comment">
        <Content view={view} comment={{ ...comment, reply: null, media: [] }} most={4} />
      </article>
    </div>
  );
}

/** The viewer's own comment while others cannot see it, with its status. */
export function Own({ view }: Props) {
  const own = productOf(view)?.viewerComment;
  const kind =
    own &&
    (own.status === 'REJECTED'
      ? 'own.rejected'
      : waits({ kind: 'edited', comment: own }) && 'own.waits');
  if (!kind) return null;
  const comment = { ...latest(own), reply: null };
  const reason = own.rejectionReason;
  return (
    <div class={`highlight ${kind}`}>
      <h3>{view.texts.say(kind)}</h3>
      {reason && reason !== 'OTHER' && <p class="hint">{view.texts.say(`reason.${reason}`)}</p>}
      <Entry
        key={own.id}
        view={view}
        comment={comment}
        content={(actions) => <Content view={view} comment={comment} actions={actions} most={4} />}
      />
    </div>
  );
}

/** A link to new comments, with their number. It covers the list, so that nothing moves. */
export function Fresh({ view: { fresh, shown, texts }, view }: Props) {
  if (fresh === null || !shown) return null;
  const text = () =>
    fresh < mostCounted
      ? texts.count('fresh', fresh)
      : texts.say(texts.keyFor('fresh', fresh), { n: `${texts.number(mostCounted - 1)}+` });
  return (
    <div class="fresh" role="status">
      {fresh > 0 && (
        <a class="button primary" part="fresh" href={linkTo(view, changed(shown.choice))}>
          {text()}
        </a>
      )}
    </div>
  );
}

/** The number of comments in the list. Screen readers announce its changes. */
export function Result({ view }: Props) {
  const list = listOf(view);
  if (!list || !view.shown || list.totalCount === null) return null;
  const { texts } = view;
  const all = productOf(view)?.stats;
  const filtered = all && isFiltered(view.shown.choice);
  const total = filtered ? all.total : list.totalCount;
  const key = texts.keyFor(filtered ? 'result.some' : 'comments', total);
  const [before, number, after] = texts.around(key, texts.number(list.totalCount), {
    total: texts.number(total),
  });
  const average = (filtered && list.stats?.average) || null;
  return (
    <p class="result" part="result" role="status">
      {before || null}
      <strong>{number}</strong>
      {(average ? after + texts.say('comma') : after) || null}
      {average && <span>{texts.say('result.average', { n: texts.decimal(average) })}</span>}
    </p>
  );
}

export function List({ view }: Props) {
  const list = listOf(view);
  if (!list || list.nodes.length === 0) return <Empty view={view} />;
  const { viewerComment } = productOf(view) ?? {};
  // That comment is edited above the list.
  const above = viewerComment?.heldEdit && viewerComment.id;
  const start = list.pageNumber === null ? undefined : (list.pageNumber - 1) * view.pageSize + 1;
  return (
    <ol class="list" part="list" start={start}>
      {list.nodes.map((comment) => (
        <li key={comment.id}>
          <Entry
            id={comment.id}
            view={comment.id === above ? { ...view, desk: null } : view}
            comment={comment}
            content={(actions) => (
              <Content
                view={view}
                comment={comment}
                actions={actions}
                votes={voteOn(view, comment)}
              />
            )}
          />
        </li>
      ))}
    </ol>
  );
}

/**
 * The vote buttons of a comment, or the space for them in the first render. Null if the viewer
 * cannot vote.
 */
function voteOn(view: View, comment: Comment): ComponentChildren {
  const { desk, texts } = view;
  const viewer = viewerOf(view);
  if (!viewer) return null;
  if (desk) {
    return mayVote(viewer, comment) ? (
      <Votes desk={desk} texts={texts} viewer={viewer} comment={comment} />
    ) : null;
  }
  return viewer.cannotVoteReason === 'VISITOR_TOKEN_REQUIRED' ? (
    <span class="votes" part="votes">
      {helpful(view, comment)}
    </span>
  ) : null;
}

/** The number of helpful votes, unless it is 0. */
function helpful({ texts }: View, { votes }: Comment): ComponentChildren {
  return (
    votes?.helpful > 0 && (
      <span class="helpful">{texts.say('helpful', { n: texts.number(votes.helpful) })}</span>
    )
  );
}

interface Parts {
  readonly comment: Comment;
  readonly actions?: ComponentChildren;
  /** Replaces the number of votes. */
  readonly votes?: ComponentChildren;
  /** A longer text is cut after this many lines until the reader unfolds it. */
  readonly most?: number;
}

/** A comment. Its texts always become text nodes, so they cannot inject markup. */
function Content({ view, comment, actions, votes, most = 12 }: Props & Parts) {
  const { texts } = view;
  const { title, text, language, author, rating, media } = comment;
  // Estimates the lines of the text; a wide screen fits some 85 characters to a line. The server
  // counts alike. Unfolding needs CSS only.
  const lines = `${text}\n`.match(/[^\n]{1,85}\n?|\n/gu)!.length;
  return (
    <>
      <header>
        <Stars label={texts.say('stars.of', { n: String(rating) })} average={rating} />
        {title && <h3 class="title" lang={language} dir="auto">{title}</h3>}
      </header>
      {text && <p class="text" lang={language} dir="auto">{text}</p>}
      {lines > most && (
        <details class="unfold" part="unfold">
          <summary>
            <span class="more">{texts.say('text.more')}</span>
            <span class="less">{texts.say('text.less')}</span>
          </summary>
        </details>
      )}
      {media?.length > 0 && <Pictures texts={texts} language={language} media={media} />}
      <footer>
        {author.name && <span class="author" dir="auto">{author.name}</span>}
        {comment.isVerifiedPurchase && <span class="verified">{texts.say('verified')}</span>}
        <When texts={texts} of={comment} />
        <span class="language" lang={language}>{texts.language(language)}</span>
        {!votes && helpful(view, comment)}
        {actions}
        {votes}
      </footer>
      {comment.reply && <FromShop view={view} reply={comment.reply} />}
    </>
  );
}

/** The date of a comment or reply, and whether it was edited. */
function When({ texts, of }: { texts: Texts; of: Pick<Reply, 'createdAt' | 'updatedAt'> }) {
  return (
    <>
      <time dateTime={of.createdAt}>{texts.day(of.createdAt)}</time>
      {of.updatedAt && <span class="edited">{texts.say('edited')}</span>}
    </>
  );
}

/** The shop's reply. */
function FromShop({ view: { texts }, reply }: Props & { reply: Reply }) {
  return (
    <div class="reply" part="reply">
      <p class="by">{texts.say('reply.by', { name: reply.name })}</p>
      <p class="text" dir="auto">{reply.text}</p>
      <p class="when">
        <When texts={texts} of={reply} />
      </p>
    </div>
  );
}

/** Shown in place of a list without comments. */
function Empty({ view }: Props) {
  const { texts, shown } = view;
  const pageCount = listOf(view)?.pageCount ?? 0;
  const kind =
    isEmptyProduct(view) || !shown
      ? 'product'
      : shown.choice.page > 1 && pageCount > 0
        ? 'page'
        : 'filter';
  return (
    <div class="empty" part="empty">
      <p>{texts.say(`empty.${kind}`)}</p>
      {kind === 'page' && (
        <a class="button" href={linkTo(view, { ...shown!.choice, page: pageCount })}>
          {texts.say('empty.last')}
        </a>
      )}
      {kind === 'filter' && <Clear view={view} look="button" />}
    </div>
  );
}
