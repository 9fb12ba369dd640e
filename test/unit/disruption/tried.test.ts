import { expect, it } from 'vitest';
import { triedBy } from '../../../shared/core/disruption/tried.ts';
import { type Labels, REPLACES, TRIES } from '../../../shared/core/model/labels.ts';
import { claimOf } from '../../builders/scheduling.ts';

const TEMPLATE = 'NodePool/general template abc';

it.each<[string, Labels, readonly string[]]>([
  ['launched for pods tried nothing', {}, []],
  ['of a move tried its kind', { [REPLACES]: 'old' }, ['move to m.large spot']],
  ['of a canary tried what is new', { [REPLACES]: 'old', [TRIES]: TEMPLATE }, [TEMPLATE]],
])('an instance %s', (_, annotations, tried) => {
  const labels = {
    'node.kubernetes.io/instance-type': 'm.large',
    'karpenter.sh/capacity-type': 'spot',
  };
  expect(triedBy({ ...claimOf('new', {}), labels, annotations })).toEqual(tried);
});
