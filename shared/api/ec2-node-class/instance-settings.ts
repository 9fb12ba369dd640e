import * as z from 'zod';
import { STRUCTURAL } from '../schema/parts.ts';
import { withRules } from '../schema/rule.ts';

const VOLUME_SIZE =
  /^((?:[1-9][0-9]{0,3}|[1-4][0-9]{4}|[5][0-8][0-9]{3}|59000)Gi|(?:[1-9][0-9]{0,3}|[1-5][0-9]{4}|[6][0-3][0-9]{3}|64000)G|([1-9]||[1-5][0-7]|58)Ti|([1-9]||[1-5][0-9]|6[0-3]|64)T)$/;

const ebsShape = z.strictObject({
  deleteOnTermination: z.boolean().optional(),
  encrypted: z.boolean().optional(),
  iops: z.int().min(0).optional(),
  kmsKeyID: z.string().optional(),
  snapshotID: z.string().optional(),
  throughput: z.int().min(0).optional(),
  /** MiB/s. */
  volumeInitializationRate: z.int().min(100).max(300).optional(),
  volumeSize: z
    .string()
    .regex(VOLUME_SIZE, { message: 'must be a size such as 100Gi, 100G, 2Ti or 2T' })
    .optional(),
  volumeType: z.enum(['standard', 'io1', 'io2', 'gp2', 'sc1', 'st1', 'gp3']).optional(),
});

const ebs = withRules(ebsShape, [
  {
    cel: 'has(self.snapshotID) || has(self.volumeSize)',
    message: 'snapshotID or volumeSize must be defined',
    check: ({ snapshotID, volumeSize }) => snapshotID !== undefined || volumeSize !== undefined,
  },
  {
    cel: '!has(self.volumeInitializationRate) || has(self.snapshotID)',
    message: 'snapshotID must be set when volumeInitializationRate is set',
    check: ({ snapshotID, volumeInitializationRate }) =>
      volumeInitializationRate === undefined || snapshotID !== undefined,
  },
]);

const device = z.strictObject({
  deviceName: z.string().optional(),
  ebs: ebs.optional(),
  rootVolume: z.boolean().optional(),
});

export const blockDeviceMappings = withRules(z.array(device).max(50), [
  {
    cel: 'self.filter(device, has(device.rootVolume) && device.rootVolume).size() <= 1',
    message: 'must have only one blockDeviceMappings with rootVolume',
    check: (devices) => devices.filter((each) => each.rootVolume === true).length <= 1,
  },
]);

const networkInterface = z.strictObject({
  networkCardIndex: z.int().min(0),
  deviceIndex: z.int().min(0),
  interfaceType: z.enum(['interface', 'efa-only']),
});

export const networkInterfaces = withRules(z.array(networkInterface).min(1).max(150), [
  {
    cel: "self.exists(each, each.networkCardIndex == 0 && each.deviceIndex == 0 && each.interfaceType == 'interface')",
    message:
      'must contain the interface with networkCardIndex 0 and deviceIndex 0 of type interface',
    check: (list) =>
      list.some(
        (each) =>
          each.networkCardIndex === 0 &&
          each.deviceIndex === 0 &&
          each.interfaceType === 'interface',
      ),
  },
  {
    cel: 'self.all(a, self.filter(b, a.networkCardIndex == b.networkCardIndex && a.deviceIndex == b.deviceIndex).size() == 1)',
    message: 'networkCardIndex and deviceIndex must be unique together',
    check: (list) =>
      new Set(list.map((each) => `${each.networkCardIndex}/${each.deviceIndex}`)).size ===
      list.length,
  },
  {
    cel: "self.all(a, a.interfaceType != 'efa-only' || self.filter(b, b.interfaceType == 'efa-only' && a.networkCardIndex == b.networkCardIndex).size() == 1)",
    message: 'at most one efa-only interface is supported on each network card',
    check: (list) => {
      const cards = list.filter((each) => each.interfaceType === 'efa-only');
      return new Set(cards.map((each) => each.networkCardIndex)).size === cards.length;
    },
  },
]);

export const metadataOptions = z.strictObject({
  httpEndpoint: z.enum(['enabled', 'disabled']).default('enabled'),
  httpProtocolIPv6: z.enum(['enabled', 'disabled']).default('disabled'),
  httpPutResponseHopLimit: z.int().min(1).max(64).default(1),
  httpTokens: z.enum(['required', 'optional']).default('required'),
});

/** Seconds. https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/security-group-connection-tracking.html */
export const connectionTracking = withRules(
  z.strictObject({
    tcpEstablishedTimeout: z.int().min(60).max(432_000).optional(),
    udpStreamTimeout: z.int().min(60).max(180).optional(),
    udpTimeout: z.int().min(30).max(60).optional(),
  }),
  [
    {
      cel: 'has(self.tcpEstablishedTimeout) || has(self.udpStreamTimeout) || has(self.udpTimeout)',
      message:
        "expected at least one of ['tcpEstablishedTimeout', 'udpStreamTimeout', 'udpTimeout']",
      check: (times) => Object.values(times).some((each) => each !== undefined),
    },
  ],
);

/** Any field of the kubelet's configuration: what a family cannot take shows in its condition. */
export const kubelet = z.record(z.string(), z.unknown()).meta({
  [STRUCTURAL]: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
});

const RESERVED_TAGS = [
  'eks:eks-cluster-name',
  'karpenter.sh/nodepool',
  'karpenter.sh/nodeclaim',
  'karpenter.k8s.aws/ec2nodeclass',
] as const;

export const tags = withRules(z.record(z.string(), z.string()), [
  {
    cel: "self.all(key, key != '')",
    message: 'empty tag keys are not supported',
    check: (map) => !Object.hasOwn(map, ''),
  },
  {
    cel: "self.all(key, !key.startsWith('kubernetes.io/cluster'))",
    message: 'tag contains a restricted tag matching kubernetes.io/cluster/',
    check: (map) => !Object.keys(map).some((key) => key.startsWith('kubernetes.io/cluster')),
  },
  ...RESERVED_TAGS.map((name) => ({
    cel: `!('${name}' in self)`,
    message: `tag contains a restricted tag matching ${name}`,
    check: (map: Readonly<Record<string, string>>) => !Object.hasOwn(map, name),
  })),
]).meta({ maxProperties: 50 });
