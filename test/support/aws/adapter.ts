import { type AwsAccess, ec2Client, eksClient, iamClient } from '../../../shared/aws/access.ts';
import { Calls } from '../../../shared/aws/calls.ts';
import { Ec2Compute } from '../../../shared/aws/ec2-compute.ts';
import { describeCluster } from '../../../shared/aws/eks-cluster.ts';
import { LaunchTemplates } from '../../../shared/aws/launch-templates.ts';
import { Ec2Network } from '../../../shared/aws/network.ts';
import { IamProfiles } from '../../../shared/aws/profiles.ts';
import { CLUSTER, type WireCloud } from './cloud.ts';

export const CREDENTIALS = { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'secret' };

export function accessTo(cloud: Pick<WireCloud, 'endpoint'>): AwsAccess {
  return {
    region: 'us-east-1',
    credentials: CREDENTIALS,
    functionName: 'test',
    endpoint: cloud.endpoint,
    timeoutMs: 2_000,
  };
}

/** The model's clock; waiting makes it go on at once. */
export function callsOn(cloud: Pick<WireCloud, 'account'>): Calls {
  const { account } = cloud;
  return new Calls({
    nowMs: () => account.nowMs,
    sleep: async (ms) => {
      account.nowMs += ms;
    },
  });
}

/** The adapters as a function composes them, all pointed at the wire server. */
export function adapterOn(cloud: WireCloud, calls = callsOn(cloud)) {
  return adapterAt(accessTo(cloud), calls);
}

/** The same at any endpoint. */
export function adapterAt(access: AwsAccess, calls: Calls) {
  const ec2 = ec2Client(access);
  const eks = eksClient(access);
  const templates = new LaunchTemplates({
    ec2,
    calls,
    cluster: () => describeCluster(eks, calls, CLUSTER),
    efaCards: (type) => (type === 'p5.48xlarge' ? [...Array(32).keys()] : []),
  });
  const iam = iamClient(access);
  return {
    calls,
    templates,
    compute: new Ec2Compute({ ec2, calls, templates, cluster: CLUSTER }),
    network: new Ec2Network({ ec2, calls }),
    profiles: new IamProfiles({
      iam,
      calls,
      cluster: CLUSTER,
      region: 'us-east-1',
      isolated: false,
    }),
  };
}
