import { priceText } from '../price-text.ts';
import { table } from '../simulate/table.ts';
import type { Row } from './rows.ts';

/** Prices carry binary noise: differences below this are none. */
const NOISE = 1e-6;

function isAlways(values: readonly number[]): boolean {
  const [first = 0] = values;
  return values.every((each) => Math.abs(each - first) < NOISE);
}

function signed(amount: number, text: string): string {
  return amount < 0 ? `-${text}` : `+${text}`;
}

function percent(ratio: number): string {
  const points = (ratio - 1) * 100;
  return signed(points, `${Number(Math.abs(points).toFixed(1))}%`);
}

/** What overlays do to the prices of several rows, in the words of a NodeOverlay where one fits. */
function effectOf(rows: readonly Row[]): string {
  const changes = rows.map(({ price, listPrice }) => price - listPrice);
  if (changes.every((each) => Math.abs(each) < NOISE)) return '';
  const ratios = rows.map(({ price, listPrice }) => (listPrice > 0 ? price / listPrice : 1));
  if (isAlways(ratios)) return percent(ratios[0] ?? 1);
  const [change = 0] = changes;
  if (isAlways(changes)) return signed(change, priceText(Math.abs(change)));
  const prices = rows.map(({ price }) => price);
  if (isAlways(prices)) return priceText(prices[0] ?? 0);
  return `${percent(Math.min(...ratios))} to ${percent(Math.max(...ratios))}`;
}

function familyOf({ instanceType }: Row): string {
  return instanceType.split('.')[0] ?? instanceType;
}

/** Resources as they are after the overlays. */
function capacityOf({ capacity }: Row): string {
  return capacity.map((each) => each.replace(/: .* → /, ': ')).join(', ');
}

function distinct(values: readonly string[]): readonly string[] {
  return [...new Set(values)];
}

/** A line for each NodePool, family, and what overlays do to it. */
export function familyTable(rows: readonly Row[]): string {
  const groups = Map.groupBy(rows, (row) =>
    JSON.stringify([row.nodePool, familyOf(row), row.overlays, capacityOf(row)]),
  );
  const cells = [...groups.values()].flatMap((list) => {
    const [first] = list;
    if (first === undefined) return [];
    const types = distinct(list.map(({ instanceType }) => instanceType)).length;
    return [
      [
        first.nodePool,
        first.overlays.length === 0 ? '-' : first.overlays.join(', '),
        familyOf(first),
        String(types),
        distinct(list.map(({ capacityType }) => capacityType)).join(', '),
        effectOf(list),
        capacityOf(first),
      ],
    ];
  });
  const header = ['NODEPOOL', 'OVERLAY', 'FAMILY', 'TYPES', 'CAPACITY TYPES', 'PRICE', 'CAPACITY'];
  return table(header, cells);
}
