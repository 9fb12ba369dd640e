import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, normalize, relative } from 'node:path';
import { describe, expect, it } from 'vitest';
import { CLUSTER_FUNCTIONS, type FunctionName } from '../../shared/contract.ts';
import { rightsRules, waysOf } from '../support/authorisation/rights.ts';

/**
 * What no run has shown yet must be allowed as well: every write of the port that a function's use
 * cases can reach, by what their files import.
 */
const ROOT = join(import.meta.dirname, '../..');

/** What a write of the port asks of rights. */
const WRITES: Readonly<Record<string, readonly [verb: string, group: string, resource: string]>> = {
  createNodeClaim: ['create', 'karpenter.sh', 'nodeclaims'],
  patchNodeClaim: ['patch', 'karpenter.sh', 'nodeclaims'],
  patchNodeClaimStatus: ['patch', 'karpenter.sh', 'nodeclaims/status'],
  patchNodePool: ['patch', 'karpenter.sh', 'nodepools'],
  patchNodePoolStatus: ['patch', 'karpenter.sh', 'nodepools/status'],
  patchNodeOverlayStatus: ['patch', 'karpenter.sh', 'nodeoverlays/status'],
  patchNodeClass: ['patch', 'karpenter.k8s.aws', 'ec2nodeclasses'],
  patchNodeClassStatus: ['patch', 'karpenter.k8s.aws', 'ec2nodeclasses/status'],
  patchCapacityBufferStatus: ['patch', 'autoscaling.x-k8s.io', 'capacitybuffers/status'],
  patchNode: ['patch', '', 'nodes'],
  'delete(nodeRef': ['delete', '', 'nodes'],
  delete: ['delete', 'karpenter.sh', 'nodeclaims'],
  deletePod: ['delete', '', 'pods'],
  nominate: ['patch', '', 'pods/status'],
  evict: ['create', '', 'pods/eviction'],
  event: ['create', '', 'events'],
};

/** Files of which a function uses something else than their writes. */
const NOT_CALLED: Readonly<Partial<Record<FunctionName, readonly string[]>>> = {
  disrupt: ['planning/capacity-buffers.ts', 'planning/statuses.ts'],
};

function reached(from: string, seen = new Set<string>()): ReadonlySet<string> {
  if (seen.has(from) || !existsSync(from)) return seen;
  seen.add(from);
  const text = readFileSync(from, 'utf8');
  for (const [, to = ''] of text.matchAll(
    /^(?:import (?!type)|export )[^;]*? from '(\.[^']+)'/gms,
  )) {
    reached(normalize(join(dirname(from), to)), seen);
  }
  return seen;
}

/** e.g. `patchNode in lifecycle/registration.ts` */
function writesOf(name: FunctionName): readonly (readonly [write: string, file: string])[] {
  const files = [...reached(join(ROOT, `functions/${name}/handler.ts`))];
  const ofUseCases = files.filter((file) => file.startsWith(join(ROOT, 'shared/app/')));
  return ofUseCases.flatMap((file) => {
    const calls = readFileSync(file, 'utf8').matchAll(/cluster\s*\.(\w+)(\(nodeRef)?/g);
    const found = [...calls].map(([, method = '', ofNode = '']) =>
      method === 'delete' ? `${method}${ofNode}` : method,
    );
    return [...new Set(found)]
      .filter((write) => Object.hasOwn(WRITES, write))
      .map((write) => [write, relative(join(ROOT, 'shared/app'), file)] as const);
  });
}

/** The use cases of `shadow` write to a copy in its memory; what it has of adapters is below. */
const WRITING = CLUSTER_FUNCTIONS.filter((name) => name !== 'shadow');

describe.each(WRITING)('writes that %s can reach', (name) => {
  const skipped = NOT_CALLED[name] ?? [];

  it('are allowed', () => {
    const rules = rightsRules(name);
    const denied = writesOf(name).filter(([write, file]) => {
      const [verb = '', group = '', resource = ''] = WRITES[write] ?? [];
      const isAllowed = waysOf(rules, { verb, group, resource }).length > 0;
      return !isAllowed && !skipped.includes(file);
    });
    expect(denied).toEqual([]);
  });

  it('are in every file that is left out', () => {
    const files = writesOf(name).map(([, file]) => file);
    expect(skipped.filter((file) => !files.includes(file))).toEqual([]);
  });
});

it('finds the writes of a function', () => {
  const found = writesOf('lifecycle').map(([write]) => write);
  expect(found).toEqual(expect.arrayContaining(['evict', 'delete(nodeRef', 'nominate', 'event']));
});

it('shadow reaches no adapter by which a cluster or EC2 is changed', () => {
  const adapters = ['shared/kube/cluster.ts', 'shared/kube/cluster-writer.ts'];
  const ofEc2 = ['shared/aws/ec2-compute.ts', 'shared/aws/launch-templates.ts'];
  const files = (name: string): ReadonlySet<string> =>
    new Set(
      [...reached(join(ROOT, `functions/${name}/handler.ts`))].map((file) => relative(ROOT, file)),
    );
  const all = [...adapters, ...ofEc2];
  expect(all.filter((file) => !files('provision').has(file))).toEqual([]);
  expect(all.filter((file) => files('shadow').has(file))).toEqual([]);
  expect(files('shadow').has('shared/kube/cluster-reader.ts')).toBe(true);
});
