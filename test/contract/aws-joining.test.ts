import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ImageFamily } from '../../shared/core/model/node-class.ts';
import { aFleet, aNodeClass } from '../builders/launches.ts';
import { adapterOn } from '../support/aws/adapter.ts';
import { WireCloud } from '../support/aws/cloud.ts';
import { type Joining, joiningOf } from '../support/aws/joining.ts';
import type { ModelInstance } from '../support/aws/model/account.ts';

let cloud: WireCloud;
beforeEach(async () => {
  cloud = new WireCloud();
  await cloud.start();
});
afterEach(() => cloud.stop());

const FAMILIES: readonly ImageFamily[] = [
  'AL2',
  'AL2023',
  'Bottlerocket',
  'Windows2019',
  'Windows2022',
  'Windows2025',
];

async function launch(amiFamily: ImageFamily, spec: object = {}): Promise<ModelInstance[]> {
  const started: ModelInstance[] = [];
  cloud.account.onLaunch = (instance) => started.push(instance);
  const nodeClass = aNodeClass({ amiFamily, amiSelectorTerms: [{ id: 'ami-0a' }], ...spec });
  const taints = [
    { key: 'dedicated', value: 'gpu', effect: 'NoSchedule' },
    { key: 'startup', value: '', effect: 'NoExecute' },
  ] as const;
  const podsMax = { 'c7g.large': 29 };
  await adapterOn(cloud).compute.launch(
    aFleet({ nodeClass, taints, podsMax, clientToken: JSON.stringify(spec) }),
  );
  return started;
}

describe('an instance joins as what its claim asked for', () => {
  it.each(FAMILIES)('%s', async (family) => {
    const [instance] = await launch(family);
    const joining = instance && joiningOf(instance);
    expect(joining).toEqual({
      cluster: 'demo',
      name: 'ip-10-0-0-2.ec2.internal',
      providerId: `aws:///us-east-1a/${instance?.id}`,
      podsMax: 29,
      labels: {
        'karpenter.sh/capacity-type': 'on-demand',
        'karpenter.sh/do-not-sync-taints': 'true',
        'karpenter.sh/nodepool': 'default',
        'node.kubernetes.io/instance-type': 'c7g.large',
        'topology.kubernetes.io/region': 'us-east-1',
        'topology.kubernetes.io/zone': 'us-east-1a',
      },
      taints: [
        { key: 'dedicated', value: 'gpu', effect: 'NoSchedule' },
        { key: 'startup', effect: 'NoExecute' },
        { key: 'karpenter.sh/unregistered', effect: 'NoExecute' },
      ],
    } satisfies Joining);
  });

  it('Custom does what the class says and nothing more', async () => {
    const [plain] = await launch('Custom');
    expect(plain && joiningOf(plain)).toBeUndefined();
    expect(plain?.template.UserData).toBeUndefined();
    const [own] = await launch('Custom', { userData: 'echo hi' });
    expect(Buffer.from(own?.template.UserData ?? '', 'base64').toString()).toBe('echo hi');
  });
});
