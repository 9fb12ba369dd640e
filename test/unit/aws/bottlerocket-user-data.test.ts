import { parse } from 'smol-toml';
import { expect, it } from 'vitest';
import { userData } from '../../../shared/aws/user-data/user-data.ts';
import { readKubelet } from '../../../shared/core/launch/kubelet.ts';
import { registrationOf } from '../../../shared/core/launch/node-bootstrap.ts';

const USER = `
[settings.kubernetes.node-taints]
mine = ["yes:NoSchedule"]
[settings.kubernetes.node-labels]
mine = "kept"
[settings.kubernetes.eviction-hard]
"memory.available" = "50%"
[settings.kubernetes.kube-reserved]
memory = "1Gi"
`;

it('user data of Bottlerocket keeps no taint and no reserve that plans do not know', () => {
  const text = userData('Bottlerocket', USER, {
    cluster: {
      name: 'demo',
      endpoint: 'https://ABC.eks.amazonaws.com',
      certificateAuthority: 'Q0E=',
      serviceCidr: '10.100.0.0/16',
      ipFamily: 'ipv4',
      kubernetesVersion: '1.33',
    },
    kubelet: readKubelet({ evictionHard: { 'nodefs.available': '5%' } }, 'Bottlerocket')
      .configuration,
    podsMax: 29,
    instanceStoreRaid: false,
    ...registrationOf({ team: 'blue' }, [{ key: 'gpu', value: 'yes', effect: 'NoSchedule' }]),
  });
  const { settings } = parse(text);
  const { kubernetes } = settings as { readonly kubernetes: Readonly<Record<string, unknown>> };
  expect(kubernetes['node-taints']).toEqual({
    gpu: ['yes:NoSchedule'],
    'karpenter.sh/unregistered': [':NoExecute'],
  });
  expect(kubernetes['eviction-hard']).toEqual({ 'nodefs.available': '5%' });
  // Nothing of ours says otherwise, and labels are merged.
  expect(kubernetes['kube-reserved']).toEqual({ memory: '1Gi' });
  expect(kubernetes['node-labels']).toMatchObject({ mine: 'kept', team: 'blue' });
});
