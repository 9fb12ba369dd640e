import { describe, expect, it } from 'vitest';
import type { Found, Held } from '../../cli/release/objects.ts';
import { aliveRefusal, planRelease, warnings } from '../../cli/release/plan.ts';
import { inFolder, joiner } from './run.ts';

const TERMINATION = 'karpenter.sh/termination';

function held(kind: Held['kind'], name: string, change: Partial<Held> = {}): Held {
  return {
    kind,
    name,
    uid: `uid-${name}`,
    finalizers: [TERMINATION],
    isDeleting: false,
    labels: {},
    providerId: '',
    owners: [],
    classGroup: '',
    ...change,
  };
}

const claim = (name: string, change: Partial<Held> = {}): Held =>
  held('NodeClaim', name, { classGroup: 'karpenter.k8s.aws', ...change });

function foundWith(change: Partial<Found>): Found {
  return { nodes: [], claims: [], classes: [], ...change };
}

describe('which nodes are ours', () => {
  it.each<readonly [string, Partial<Held>, readonly Held[], boolean]>([
    ['a claim owns the node', { owners: ['uid-c'] }, [claim('c')], true],
    [
      'a claim has its provider id',
      { providerId: 'aws:///a/i-1' },
      [claim('c', { providerId: 'aws:///a/i-1' })],
      true,
    ],
    [
      'its claim is gone, its label tells',
      { labels: { 'karpenter.k8s.aws/ec2nodeclass': 'default' } },
      [],
      true,
    ],
    ['it has the finalizer only', {}, [], false],
    ['claims without an instance are not of a node without one', {}, [claim('c')], false],
    [
      'its claim is of Auto Mode',
      { owners: ['uid-c'], labels: { 'karpenter.k8s.aws/ec2nodeclass': 'default' } },
      [claim('c', { classGroup: 'eks.amazonaws.com' })],
      false,
    ],
  ])('%s', (_, change, claims, isOurs) => {
    const plan = planRelease(
      { names: ['n'] },
      foundWith({ nodes: [held('Node', 'n', change)], claims }),
    );
    expect(plan.refusals).toHaveLength(isOurs ? 0 : 1);
    expect(plan.objects.some(({ kind }) => kind === 'Node')).toBe(isOurs);
  });
});

describe('what is warned of', () => {
  it('instances by region, each once', () => {
    const providerId = 'aws:///eu-west-1b/i-0a';
    const found = foundWith({
      nodes: [
        held('Node', 'n', { owners: ['uid-c'], providerId }),
        held('Node', 'm', { owners: ['uid-d'], providerId: 'aws:///eu-west-1a/i-0b' }),
      ],
      claims: [claim('c', { providerId }), claim('d', { providerId: 'aws:///eu-west-1a/i-0b' })],
    });
    const plan = planRelease('all', found);
    expect(warnings(plan)).toContain(
      'instances are not terminated and go on costing: aws ec2 terminate-instances ' +
        '--region eu-west-1 --instance-ids i-0a i-0b',
    );
    expect(plan.objects).toHaveLength(4);
  });

  it('nothing where nothing is held', () => {
    const found = foundWith({ claims: [claim('c', { finalizers: [] })] });
    const plan = planRelease('all', found);
    expect(plan.objects).toEqual([]);
    expect(warnings(plan)).toEqual([]);
  });
});

it('is refused by the youngest sign of life', () => {
  const lease = 'kube-system/joiner-watch';
  const sign = {
    who: 'Joiner',
    lease,
    holder: undefined,
    atMs: 5_000,
    takenBy: new Map(),
  } as const;
  expect(aliveRefusal([sign], 65_000)).toContain('joiner-watch was renewed 60 s ago');
  expect(aliveRefusal([], 65_000)).toBeUndefined();
});

describe('usage that is refused', () => {
  it.each([
    ['release', 'give the names of nodes or NodeClaims, or --all'],
    ['release a --all', 'give either names or --all, not both'],
    ['release a --kubeconfig @/absent', 'kubeconfig: '],
    ['release a --kubeconfig @/config --context other', "no cluster for context 'other'"],
    ['release a -o xml', 'text, json, yaml'],
  ])('%s', async (line, says) => {
    const config = {
      clusters: [{ name: 'c', cluster: { server: 'https://127.0.0.1:1' } }],
      contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
      users: [],
      'current-context': 'x',
    };
    const answer = await inFolder({ config: JSON.stringify(config) }, (folder) =>
      joiner(...line.split(' ').map((each) => each.replace('@', folder))),
    );
    expect(answer).toMatchObject({ exitCode: 2, stdout: '' });
    expect(answer.stderr).toContain(says);
  });

  it('an API server that does not answer is a failure, in words', async () => {
    const config = {
      clusters: [{ name: 'c', cluster: { server: 'https://127.0.0.1:1' } }],
      contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
      users: [{ name: 'u', user: { token: 't' } }],
      'current-context': 'x',
    };
    const answer = await inFolder({ config: JSON.stringify(config) }, (folder) =>
      joiner('release', 'a', '--kubeconfig', `${folder}/config`),
    );
    expect(answer).toMatchObject({ exitCode: 1, stdout: '' });
    expect(answer.stderr).toContain('error: get version: the API server cannot be reached');
  });
});
