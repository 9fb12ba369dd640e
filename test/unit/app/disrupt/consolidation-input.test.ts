import { expect, it } from 'vitest';
import { disruptionCandidates } from '../../../../shared/app/disrupt/candidates.ts';
import { pricedCandidates } from '../../../../shared/app/disrupt/consolidation-input.ts';
import { observePass } from '../../../../shared/app/disrupt/disrupt.ts';
import { sentences } from '../../../../shared/core/explain/reason.ts';
import { ZONE } from '../../../../shared/core/model/labels.ts';
import { runningWorld, settings, spread } from '../world.ts';

it('a node without a known price stays, and it is said why', async () => {
  const { ports } = await runningWorld([spread('web', 2)]);
  const pass = await observePass(ports, settings, {});
  const [first, second] = disruptionCandidates(pass);
  if (first === undefined || second === undefined) throw new Error('the world has two nodes');
  const moved = { ...first.claim, labels: { ...first.claim.labels, [ZONE]: 'us-east-1z' } };
  const priced = pricedCandidates(pass, [{ ...first, claim: moved }, second]);
  expect(priced.map(({ claim }) => claim.name)).toEqual([second.claim.name]);
  const said = [...pass.outcome.kept].map(([name, reasons]) => [name, sentences(reasons)]);
  const price = 'The price of c7g.large on-demand in us-east-1z is not known';
  expect(said).toEqual([[first.claim.name, price]]);
});
