import {
  type Choice,
  changed,
  everything,
  isDated,
  isFiltered,
  orders,
  toggled,
  traits,
} from '../address';
import type { LanguageCount } from '../answer';
import { hiddenPairs, linkTo, productOf, type Props } from '../view';
import { current } from './summary';

/** How many languages are visible without unfolding. */
const languagesInSight = 6;

export function Filters({ view }: Props) {
  const { choice, texts } = view;
  return (
    <nav class="filters" part="filters" aria-label={texts.say('filter')}>
      <Languages view={view} />
      <Traits view={view} />
      <Order view={view} />
      <Dates view={view} />
      {(isFiltered(choice) || choice.order !== '') && <Clear view={view} look="clear" />}
    </nav>
  );
}

/** A link to all comments. */
export function Clear({ view, look }: Props & { look: 'button' | 'clear' }) {
  return (
    <a class={look} href={linkTo(view, everything)} rel="nofollow">
      {view.texts.say('filter.clear')}
    </a>
  );
}

function Languages({ view }: Props) {
  const { languages, matching } = productOf(view) ?? {};
  if (!languages) return null;
  const chosen = view.choice.languages;
  const tags = [...new Set([...languages.map(({ language }) => language), ...chosen])];
  const countOf = (language: string, among = languages) =>
    among.find((found) => found.language === language)?.count;
  // The count of a chosen language that is not listed is unknown.
  const chips = tags.map((language) => ({
    language,
    count:
      countOf(language) === undefined ? undefined : (countOf(language, matching ?? languages) ?? 0),
  }));
  if (chips.length < 2) return null;
  const hidden = chips.slice(languagesInSight);
  const isChosen = hidden.some(({ language }) => chosen.includes(language));
  return (
    <>
      <Chips view={view} chips={chips.slice(0, languagesInSight)} />
      {hidden.length > 0 && (
        <details class="more" ref={isChosen ? unfold : null}>
          <summary>{view.texts.say('languages.more')}</summary>
          <Chips view={view} chips={hidden} />
        </details>
      )}
    </>
  );
}

/**
 * Opens the <details> once it contains a chosen language. It then stays open until the reader
 * closes it.
 */
function unfold(more: HTMLDetailsElement | null): void {
  if (more) more.open = true;
}

function Chips({
  view,
  chips,
}: Props & { chips: readonly (Pick<LanguageCount, 'language'> & Pick<ToggleProps, 'count'>)[] }) {
  const { choice, texts } = view;
  return (
    <ul class="languages">
      {chips.map(({ language, count }) => (
        <li key={language}>
          <Toggle
            view={view}
            chosen={choice.languages.includes(language)}
            change={{ languages: toggled(choice.languages, language).sort() }}
            language={language}
            label={texts.language(language)}
            count={isDated(choice) ? null : count}
          />
        </li>
      ))}
    </ul>
  );
}

interface ToggleProps extends Props {
  readonly chosen: boolean;
  readonly change: Partial<Choice>;
  readonly language?: string;
  readonly label: string;
  readonly count: number | null | undefined;
}

function Toggle({ view, chosen, change, language, label, count }: ToggleProps) {
  return (
    <a
      class="chip"
      part="chip"
      href={linkTo(view, changed(view.choice, change))}
      aria-current={current(chosen)}
      rel="nofollow"
    >
      <span lang={language}>{label}</span>
      {count != null && <span class="count">{view.texts.number(count)}</span>}
      {chosen && <span class="hidden">{view.texts.say('selected')}</span>}
    </a>
  );
}

/**
 * The traits that some comments have, and the chosen ones. Their counts are those of the list,
 * unless dates limit it.
 */
function Traits({ view }: Props) {
  const { choice: { only }, texts } = view;
  const { stats, list } = productOf(view) ?? {};
  const of = (found: { verified: number | null; withMedia: number | null } | null | undefined) => ({
    verified: found?.verified,
    media: found?.withMedia,
  });
  const all = of(stats);
  const counts = of(list?.stats ?? (isFiltered((view.shown ?? view).choice) ? null : stats));
  const shown = traits.filter((trait) => only.includes(trait) || all[trait]);
  if (shown.length === 0) return null;
  const toggle = (trait: (typeof traits)[number]) => {
    const chosen = toggled(only, trait);
    const change = { only: traits.filter((one) => chosen.includes(one)) };
    return (
      <li>
        <Toggle
          view={view}
          chosen={only.includes(trait)}
          change={change}
          label={texts.say(`only.${trait}`)}
          count={counts[trait]}
        />
      </li>
    );
  };
  return <ul class="languages">{shown.map(toggle)}</ul>;
}

function Order({ view }: Props) {
  const { choice, texts } = view;
  const link = (order: (typeof orders)[number]) => (
    <li>
      <a
        href={linkTo(view, changed(choice, { order }))}
        aria-current={current(choice.order === order)}
        rel="nofollow"
      >
        {texts.say(`order.${order || 'newest'}`)}
      </a>
    </li>
  );
  return <ul class="order">{orders.map(link)}</ul>;
}

function Dates({ view }: Props) {
  const { choice, path, texts } = view;
  return (
    <details class="dates" open={isDated(choice)}>
      <summary>{texts.say('dates')}</summary>
      <form method="get" action={path}>
        <HiddenFields pairs={hiddenPairs(view, changed(choice, { from: '', to: '' }))} />
        <label>
          {`${texts.say('dates.from')} `}
          <input type="date" name="from" defaultValue={choice.from} />
        </label>
        <label>
          {`${texts.say('dates.to')} `}
          <input type="date" name="to" defaultValue={choice.to} />
        </label>
        <button class="button">{texts.say('dates.apply')}</button>
      </form>
    </details>
  );
}

/** Hidden fields with the parts of the address that a form does not ask for. */
export function HiddenFields({ pairs }: { pairs: readonly (readonly [string, string])[] }) {
  return (
    <>
      {pairs.map(([name, value]) => (
        <input key={`${name}=${value}`} type="hidden" name={name} value={value} />
      ))}
    </>
  );
}
