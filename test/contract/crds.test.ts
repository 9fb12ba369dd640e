import { beforeAll, describe, expect, it } from 'vitest';
import { RESOURCES, type Resource } from '../../shared/api/resources.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import { isKubeFault } from '../../shared/kube/errors.ts';
import { API_ROWS, type ApiRow } from '../builders/api-objects.ts';
import { establishCrds, karpenterCrds, ourCrds } from '../support/control-plane/crds.ts';
import { describeWithControlPlane } from '../support/control-plane/suite.ts';
import { ensureNamespace } from './kube-objects.ts';

const RESOURCE: Readonly<Record<ApiRow['kind'], Resource>> = {
  NodePool: RESOURCES.nodePools,
  NodeClaim: RESOURCES.nodeClaims,
  NodeOverlay: RESOURCES.nodeOverlays,
  EC2NodeClass: RESOURCES.nodeClasses,
  CapacityBuffer: RESOURCES.capacityBuffers,
};

/** What the API server says against the object; undefined where it takes it. */
async function refusal(admin: KubeClient, row: ApiRow): Promise<string | undefined> {
  const namespace = row.kind === 'CapacityBuffer' ? 'default' : undefined;
  const address = { name: 'sample', namespace };
  try {
    await admin.create(RESOURCE[row.kind], row.object, namespace);
  } catch (error) {
    if (isKubeFault(error, 'invalid')) return error.message;
    throw error;
  }
  await admin.delete(RESOURCE[row.kind], address, {});
  return undefined;
}

/** Where our definitions differ from Karpenter's 1.14.1 on purpose, by the row's title, and why. */
const DIFFERENCES: readonly (readonly [why: string, titles: readonly RegExp[]])[] = [
  [
    'a taint with an empty value is a taint without one, as on a Node',
    [/aints \[{"key":"example.com\/gpu","value":"","effect":"PreferNoSchedule"}\]$/],
  ],
  [
    'a negative amount is refused where it is written, not found out later',
    [/limits {"cpu":"?-1"?}$/, /capacity {"example.com\/slots":"-1"}$/],
  ],
  [
    'consolidateAfter has its default beside other fields too, as in Karpenter from 1.15',
    [/^NodePool spec.disruption.budgets (\[\]|\[{"nodes":"(10%|5|100%)".*)$/],
  ],
  [
    'manifests of Karpenter 1.15: its values, and kubelet settings that the controller checks',
    [
      /^NodePool spec.disruption {"consolidationPolicy":"WhenEmpty"}$/,
      /"reasons":\["Unhealthy"\]}\]$/,
      /^EC2NodeClass spec.kubelet {("maxPods":("min|-1)|"kubeReserved"|"imageGC|"evictionSoft")/,
      /^EC2NodeClass spec.enclaveOptions {}$/,
    ],
  ],
  [
    'a buffer says what its pods are made from',
    [/^CapacityBuffer spec {}$/, /^CapacityBuffer spec {"podTemplateRef".*"percentage"/],
  ],
  [
    'a buffer names what can be there: a name is a part of a path',
    [
      /^CapacityBuffer spec.podTemplateRef.name "(a%b|\.\.|slot\/status|slot-xx)/,
      /^CapacityBuffer spec {"scalableRef".*"name":"Web"/,
    ],
  ],
];

function isListed(title: string): boolean {
  return DIFFERENCES.some(([, titles]) => titles.some((each) => each.test(title)));
}

await describeWithControlPlane('CRDs on a real API server', ({ admin }) => {
  describe('ours', () => {
    beforeAll(async () => {
      await ensureNamespace(admin(), 'default');
      await establishCrds(admin(), await ourCrds());
    });

    it.each(API_ROWS.map((row) => [row.title, row] as const))('%s', async (_, row) => {
      const said = await refusal(admin(), row);
      if (row.refused === undefined) expect(said).toBeUndefined();
      else expect(said).toContain(row.refused);
    });
  });
});

await describeWithControlPlane("Karpenter's CRDs on a real API server", ({ admin }) => {
  beforeAll(async () => {
    await ensureNamespace(admin(), 'default');
    await establishCrds(admin(), await karpenterCrds());
  }, 120_000);

  it('give the verdicts of ours, but for the listed differences', async () => {
    const differing: string[] = [];
    for (const row of API_ROWS) {
      const isRefused = (await refusal(admin(), row)) !== undefined;
      if (isRefused !== (row.refused !== undefined)) differing.push(row.title);
    }
    expect(differing.filter((each) => !isListed(each))).toEqual([]);
    expect(differing).toEqual(API_ROWS.map((row) => row.title).filter(isListed));
  }, 120_000);
});
