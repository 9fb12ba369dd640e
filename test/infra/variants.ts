import type { Environment } from 'aws-cdk-lib';
import type { JoinerProps } from '../../infra/constructs/joiner-props.ts';
import { type Synthesised, synthesise } from './synthesis.ts';

/** The five ways of deploying whose templates are kept. */
export interface Variant {
  readonly joiner: JoinerProps;
  readonly env?: Environment;
}

const ACCOUNT = '111122223333';

export const VARIANTS = {
  defaults: { joiner: { cluster: 'demo' } },
  private: {
    joiner: {
      cluster: 'demo',
      endpoint: 'private',
      subnets: ['subnet-0a0a0a0a0a0a0a0a0', 'subnet-0b0b0b0b0b0b0b0b0'],
      securityGroups: ['sg-0c0c0c0c0c0c0c0c0'],
      clusterSecurityGroup: 'sg-0d0d0d0d0d0d0d0d0',
      isolatedVpc: true,
      reaction: 'tick',
      windowsNodes: true,
      permissionsBoundary: `arn:aws:iam::${ACCOUNT}:policy/boundary`,
    },
  },
  'shared-bucket': {
    joiner: {
      cluster: 'demo',
      bucket: 'joiner-memory-of-the-account',
      decisionEvents: 'all',
      limitGroups: 'batch nodes=20 shared; batch nodes=5 from 0 18 * * 1-5 for 14h; gpu price=40',
      encryptionKey: `arn:aws:kms:eu-west-1:${ACCOUNT}:key/11111111-2222-3333-4444-555555555555`,
      alarmTopic: `arn:aws:sns:eu-west-1:${ACCOUNT}:platform-alarms`,
      nodeRole: `arn:aws:iam::${ACCOUNT}:role/EksNodes`,
      memorySizes: { provision: 3008 },
      featureGates: { NodeRepair: true },
      reservedConcurrency: { provision: 2 },
      installerAccess: false,
    },
    env: { account: ACCOUNT, region: 'eu-west-1' },
  },
  china: {
    joiner: { cluster: 'demo', region: 'cn-north-1' },
    env: { account: ACCOUNT, region: 'cn-north-1' },
  },
  shadow: { joiner: { cluster: 'demo', shadow: true } },
} as const satisfies Readonly<Record<string, Variant>>;

/** One of them, without the rules. */
export function synthesiseVariant(name: keyof typeof VARIANTS): Synthesised {
  const variant: Variant = VARIANTS[name];
  return synthesise(variant.joiner, variant.env === undefined ? {} : { env: variant.env });
}

export const VARIANT_NAMES = ['defaults', 'private', 'shared-bucket', 'china', 'shadow'] as const;
