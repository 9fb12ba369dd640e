import type { Decided } from '../../shared/app/recording/replayed.ts';
import { type Balance, paybackMs } from '../../shared/core/disruption/consolidation/payback.ts';
import { type Currency, money } from '../../shared/core/model/currency.ts';
import type { Packing } from './packing.ts';
import { Packer, plannedPacking } from './planned.ts';

const MINUTE_MS = 60_000;

function moveText(balance: Balance, currency: Currency): string {
  const minutes = Math.ceil(paybackMs(balance) / MINUTE_MS);
  const saving = `the move saves ${money(balance.saving, currency)} an hour`;
  const cost = money(balance.cost, currency);
  return `${saving}, and its cost of ${cost} is repaid in ${minutes} min`;
}

/** The nodes of a recorded cluster with what is decided on it now. */
export function replayedPacking(made: Decided): Packing {
  if (made.useCase === 'provision') return plannedPacking(made.snapshot, made.plan);
  const { snapshot, currency, found } = made;
  const packer = new Packer(snapshot);
  const leaving = new Map(
    found.moves.flatMap(({ nodes, balance }) =>
      nodes.map(({ node }) => [node.name, moveText(balance, currency)] as const),
    ),
  );
  const there = packer.standing(snapshot, [], (name) => {
    const why = leaving.get(name);
    return why === undefined ? { state: 'runs', why: null } : { state: 'leaves', why };
  });
  const added = found.moves.flatMap(({ replacements }) => replacements);
  const planned = added.map((claim, at) => packer.planned(claim, `new-${at + 1}`));
  return packer.packing([...there, ...planned]);
}
