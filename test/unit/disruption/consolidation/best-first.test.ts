import { describe, expect, it } from 'vitest';
import { type Cluster, clusterOf, type Used } from '../../../builders/consolidation.ts';
import { looked, strictPool } from '../../../builders/looked.ts';
import { cpuPod, ON_DEMAND, used } from '../../../builders/moves.ts';
import { poolOf, typeOf } from '../../../builders/scheduling.ts';

function cluster(nodes: readonly Used[], hosts: readonly Used[] = []): Cluster {
  const types = [...ON_DEMAND, typeOf('host', 4, 16, 9), typeOf('old', 1, 4, 0.8)];
  const pools = [poolOf('general'), strictPool()];
  const { snapshot, usages } = clusterOf([...nodes, ...hosts], { types, pools });
  return { snapshot, usages: usages.slice(0, nodes.length) };
}

describe('the best move', () => {
  it('is made before one that takes its room, though that is found first', () => {
    // `b` and `c` fit on `a` and the host, `a` on the host. The first of the order, `x`, stays.
    const nodes = [
      { ...used('x', 'm.4xlarge', cpuPod('p-x', 900)), pool: 'strict' },
      used('a', 'm.4xlarge', cpuPod('p-a', 2000)),
      used('b', 'm.large', cpuPod('p-b', 1500)),
      used('c', 'm.large', cpuPod('p-c', 1500)),
    ];
    const hosts = [used('h', 'host', cpuPod('q', 500))];
    const moves = [0, 2, 3].map((turn) => {
      return looked(cluster(nodes, hosts), { plansMax: 6, turn }).moves[0];
    });
    expect(moves).toEqual(['a', 'a', 'a']);
  });

  it('is that of one node, or of several together', () => {
    const nodes = [
      used('a', 'm.xlarge', cpuPod('p-a', 500)),
      used('b', 'm.4xlarge', cpuPod('p-b', 500)),
      used('c', 'm.2xlarge', cpuPod('p-c', 500)),
    ];
    const hosts = [used('h', 'host')];
    expect(looked(cluster(nodes, hosts), { plansMax: 23 }).moves).toEqual(['bca']);
    const one = { plansMax: 23, nodesMax: 1 };
    expect(looked(cluster(nodes, hosts), one).moves).toEqual(['b']);
  });
});

describe('a move that launches', () => {
  const full = (name: string): Used => used(name, 'old', cpuPod(`p-${name}`, 900));
  const stays: Used = { ...used('x', 'm.large', cpuPod('p-x', 1900)), pool: 'strict' };
  // Of four the first two are looked at together, and `x` never goes.
  const nodes = [full('a'), full('b'), full('c'), stays];

  it('takes in what shares its new nodes', () => {
    const found = looked(cluster(nodes), { plansMax: 23 });
    expect(found.moves).toEqual(['abc']);
    expect(found.groups).toContain('abcx');
  });

  it('takes in no more than budgets let go', () => {
    expect(looked(cluster(nodes), { plansMax: 23, nodesMax: 2 }).moves).toEqual(['ab']);
  });

  it('takes in none where no plan is left', () => {
    expect(looked(cluster(nodes), { plansMax: 3 }).moves).toEqual(['ab']);
  });
});
