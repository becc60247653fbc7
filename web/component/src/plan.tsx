// The content of the plan drawer: a separate script, which the element loads when a reader opens
// the drawer. It includes the English texts that only the drawer shows.
import { type ComponentChildren, Fragment } from 'preact';
import en from '../../product/texts/en.json';
import type { Candidate, Plan, Read } from './answer';
import look from './plan.css';
import type { Key } from './texts';
import type { Props } from './view';
import { Grid } from './views/grid';

/** The style sheet and the English texts of the drawer. */
export { look };
export const english: Readonly<Record<string, string>> = en;

type Part = Props & { plan: Plan };

/** The part before the plan's sentence: the grid and the totals. */
export function Overview({ view, plan }: Part) {
  return (
    <div class="overview">
      <Grid view={view} plan={plan} />
      <Totals view={view} plan={plan} />
    </div>
  );
}

/** The part after the sentence: each read, and why the planner chose these. */
export function Details({ view, plan }: Part) {
  return (
    <>
      <Reads view={view} plan={plan} />
      <Candidates view={view} plan={plan} />
      <Skipped view={view} plan={plan} />
      <Position view={view} plan={plan} />
    </>
  );
}

function Totals({ view: { texts, shown }, plan }: Part) {
  const totals: [Key, string][] = [
    ['plan.readUnits', texts.rounded(plan.readUnits, 2)],
    ['plan.waveCount', texts.number(plan.waves)],
    ['plan.queries', texts.number(plan.queries)],
    ['plan.scanned', texts.number(plan.itemsRead)],
    ['plan.returned', texts.number(plan.itemsReturned)],
    ['plan.server', `${texts.milliseconds(plan.milliseconds)} ms`],
  ];
  if (plan.lookups > 0) totals.push(['plan.lookups', texts.number(plan.lookups)]);
  if (plan.age > 0) totals.push(['plan.age', `${texts.milliseconds(plan.age)} ms`]);
  if (shown?.milliseconds != null) {
    totals.push(['plan.browser', `${texts.milliseconds(shown.milliseconds)} ms`]);
  }
  return (
    <dl>
      {totals.map(([key, value]) => (
        <Fragment key={key}>
          <dt>{texts.say(key)}</dt>
          <dd>{value}</dd>
        </Fragment>
      ))}
    </dl>
  );
}

function Reads({ view, plan }: Part) {
  const { texts } = view;
  if (plan.reads.length === 0) return null;
  const heads: Key[] = [
    'plan.purpose',
    'plan.index',
    'plan.key',
    'plan.range',
    'plan.limit',
    'plan.scanned',
    'plan.returned',
    'plan.readUnits',
  ];
  return (
    <Table caption={texts.say('plan.reads')} heads={heads.map((key) => texts.say(key))}>
      {plan.reads.map((read, i) => (
        <tr key={i}>
          <td>{purposeOf(view, read.purpose)}</td>
          <td><code>{read.index}</code></td>
          <td><code>{read.partitionKey}</code></td>
          <td><SortKeys view={view} read={read} /></td>
          <td class="n">{texts.number(read.limit)}</td>
          <td class="n">{texts.number(read.itemsRead)}</td>
          <td class="n">{texts.number(read.itemsKept)}</td>
          <td class="n">{texts.rounded(read.readUnits, 2)}</td>
        </tr>
      ))}
    </Table>
  );
}

/** The range of the sort key, in the direction of the read. */
function SortKeys({ view, read: { sortKeyFrom, sortKeyTo, descending } }: Props & { read: Read }) {
  const arrow = view.texts.say(descending ? 'plan.descending' : 'plan.ascending');
  if (sortKeyFrom === null && sortKeyTo === null) {
    return <>{`${view.texts.say('plan.whole')}${view.texts.say('comma')}${arrow}`}</>;
  }
  return (
    <>
      <code>{`${sortKeyFrom ?? ''} … ${sortKeyTo ?? ''}`}</code>
      {` ${arrow}`}
    </>
  );
}

function purposeOf({ texts }: Props['view'], purpose: string): string {
  const known: Readonly<Record<string, Key>> = {
    PAGE: 'plan.purpose.page',
    PROBE: 'plan.purpose.probe',
    SKIP: 'plan.purpose.skip',
    COUNT: 'plan.purpose.count',
  };
  const key = known[purpose];
  return key ? texts.say(key) : purpose;
}

function Candidates({ view: { texts }, plan }: Part) {
  if (plan.candidates.length === 0) return null;
  const heads: Key[] = ['plan.way', 'plan.reads', 'plan.estimate', 'plan.price'];
  const number = (n: number | null) => (n === null ? '' : texts.rounded(n, 2));
  return (
    <Table caption={texts.say('plan.candidates')} heads={heads.map((key) => texts.say(key))}>
      {plan.candidates.map((candidate: Candidate, i) => (
        <tr key={i} class={candidate.chosen ? 'chosen' : undefined}>
          <th scope="row">
            {candidate.chosen ? `${candidate.name} (${texts.say('plan.chosen')})` : candidate.name}
          </th>
          <td class="n">{texts.number(candidate.reads)}</td>
          <td class="n">{number(candidate.estimatedUnits)}</td>
          <td class="n">{number(candidate.price)}</td>
        </tr>
      ))}
    </Table>
  );
}

function Skipped({ view, plan }: Part) {
  if (plan.skipped.length === 0) return null;
  return (
    <>
      <h3>{view.texts.say('plan.skipped')}</h3>
      <ul class="skipped">
        {plan.skipped.map(({ index, partitionKey }) => (
          <li key={`${index} ${partitionKey}`}><code>{`${index} ${partitionKey}`}</code></li>
        ))}
      </ul>
    </>
  );
}

function Position({ view: { texts }, plan: { position } }: Part) {
  if (!position) return null;
  const ways: Readonly<Record<string, Key>> = {
    READ_THROUGH: 'plan.by.through', INDEX: 'plan.by.index', CURSOR: 'plan.by.cursor',
  };
  const way = ways[position.by];
  return (
    <>
      <h3>{texts.say('plan.position')}</h3>
      <p class="position">
        {texts.say('plan.position.text', {
          by: way ? texts.say(way) : position.by,
          rank: position.rank === null ? '–' : texts.number(position.rank),
          skipped: texts.number(position.skipped),
          calls: texts.number(position.calls),
          units: texts.rounded(position.readUnits, 2),
        })}
      </p>
    </>
  );
}

function Table({
  caption,
  heads,
  children,
}: {
  caption: string;
  heads: string[];
  children: ComponentChildren;
}) {
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label={caption}>
      <table>
        <caption>{caption}</caption>
        <thead><tr>{heads.map((head) => <th key={head} scope="col">{head}</th>)}</tr></thead>
        <tbody>{children}</tbody>
      </table>
    </div>
  );
}
