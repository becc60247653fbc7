import { type Cell, gridOf } from '../grid';
import type { Plan } from '../answer';
import { productOf, type Props } from '../view';

// Sizes in SVG units.
const [cellWidth, cellHeight, labelWidth, headHeight, legendWidth] = [36, 24, 110, 20, 96];

/**
 * A grid of the partitions, languages by ratings. Wanted cells are outlined, and cells that were
 * read are filled.
 */
export function Grid({ view, plan }: Props & { plan: Plan }) {
  const product = productOf(view);
  if (!product || !view.shown) return null;
  const { texts } = view;
  const rows = gridOf(product, view.shown.choice, plan);
  const [width, height] = [
    Math.max(labelWidth + 5 * cellWidth, 3.5 * legendWidth),
    headHeight + (rows.length + 1.5) * cellHeight,
  ];
  return (
    <div class="scroll">
      <svg
        class="grid"
        viewBox={`0 0 ${width} ${height}`}
        width={width}
        height={height}
        role="img"
        aria-label={texts.say('plan.grid')}
      >
        {[1, 2, 3, 4, 5].map((rating) => (
          <text
            key={rating}
            class="head"
            x={labelWidth + (rating - 0.5) * cellWidth}
            y={headHeight - 6}
            text-anchor="middle"
          >{`${rating}★`}</text>
        ))}
        {rows.map(({ language, cells }, i) => (
          <g key={language} transform={`translate(0 ${headHeight + i * cellHeight})`}>
            <text class="label" x={labelWidth - 8} y={cellHeight - 7} text-anchor="end">
              {language ? shortened(texts.language(language)) : texts.say('plan.others')}
            </text>
            {cells.map((cell) => (
              <rect
                key={cell.rating}
                class={classOf(cell)}
                x={labelWidth + (cell.rating - 1) * cellWidth + 2}
                y={2}
                width={cellWidth - 4}
                height={cellHeight - 4}
                rx={3}
              />
            ))}
          </g>
        ))}
        <Legend
          y={height - cellHeight}
          entries={{
            wanted: texts.say('plan.wanted'),
            read: texts.say('plan.read'),
            skipped: texts.say('plan.empty'),
          }}
        />
      </svg>
    </div>
  );
}

/** The legend of the cells. */
function Legend({ y, entries }: { y: number; entries: Readonly<Record<string, string>> }) {
  return (
    <g transform={`translate(0 ${y})`}>
      {Object.entries(entries).map(([name, text], i) => (
        <g key={name} transform={`translate(${i * legendWidth + 2} 0)`}>
          <rect class={`cell ${name}`} width={16} height={16} rx={3} />
          <text x={22} y={13}>{text}</text>
        </g>
      ))}
    </g>
  );
}

function classOf({ wanted, read, skipped }: Cell): string {
  return ['cell', wanted && 'wanted', read && 'read', skipped && 'skipped']
    .filter(Boolean)
    .join(' ');
}

function shortened(name: string): string {
  return name.length > 14 ? `${name.slice(0, 13)}…` : name;
}
