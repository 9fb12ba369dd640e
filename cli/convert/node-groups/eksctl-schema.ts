import * as z from 'zod';

/**
 * What is read of a ClusterConfig; other fields are noted. https://schema.eksctl.io/
 */

const texts = z.record(z.string(), z.string());
const list = z.array(z.string());
const size = z.int().min(0);

const taint = z.looseObject({
  key: z.string(),
  value: z.string().optional(),
  effect: z.enum(['NoSchedule', 'NoExecute', 'PreferNoSchedule']),
});

/** `key: value:effect`, the short form. */
const shortTaints = z.record(
  z.string(),
  z.string().regex(/:(NoSchedule|NoExecute|PreferNoSchedule)$/),
);

const group = z.looseObject({
  name: z.string().min(1),
  instanceType: z.string().optional(),
  instanceTypes: list.optional(),
  instancesDistribution: z
    .looseObject({
      instanceTypes: list.optional(),
      onDemandBaseCapacity: size.optional(),
      onDemandPercentageAboveBaseCapacity: z.int().min(0).max(100).optional(),
    })
    .optional(),
  instanceSelector: z
    .looseObject({
      vCPUs: size.optional(),
      memory: z.union([z.string(), z.int()]).optional(),
      gpus: size.optional(),
      cpuArchitecture: z.enum(['x86_64', 'amd64', 'arm64']).optional(),
    })
    .optional(),
  spot: z.boolean().optional(),
  minSize: size.optional(),
  maxSize: size.optional(),
  desiredCapacity: size.optional(),
  amiFamily: z.string().optional(),
  ami: z.string().optional(),
  volumeSize: z.int().min(1).optional(),
  volumeType: z.string().optional(),
  volumeIOPS: z.int().optional(),
  volumeThroughput: z.int().optional(),
  volumeEncrypted: z.boolean().optional(),
  volumeKmsKeyID: z.string().optional(),
  volumeName: z.string().optional(),
  privateNetworking: z.boolean().optional(),
  availabilityZones: list.optional(),
  subnets: list.optional(),
  securityGroups: z.looseObject({ attachIDs: list.optional() }).optional(),
  iam: z
    .looseObject({
      instanceRoleARN: z.string().optional(),
      instanceRoleName: z.string().optional(),
      instanceProfileARN: z.string().optional(),
    })
    .optional(),
  labels: texts.optional(),
  taints: z.union([z.array(taint), shortTaints]).optional(),
  tags: texts.optional(),
  maxPodsPerNode: z.int().min(1).optional(),
  kubeletExtraConfig: z.looseObject({}).optional(),
  disableIMDSv1: z.boolean().optional(),
  disablePodIMDS: z.boolean().optional(),
  enableDetailedMonitoring: z.boolean().optional(),
});

const subnets = z.record(
  z.string(),
  z.looseObject({ id: z.string().optional(), az: z.string().optional() }),
);

export const CLUSTER_CONFIG = z.looseObject({
  metadata: z.looseObject({ name: z.string().min(1), tags: texts.optional() }),
  vpc: z
    .looseObject({
      subnets: z
        .looseObject({ private: subnets.optional(), public: subnets.optional() })
        .optional(),
    })
    .optional(),
  managedNodeGroups: z.array(group).optional(),
  nodeGroups: z.array(group).optional(),
});

export type ClusterConfig = z.output<typeof CLUSTER_CONFIG>;
export type EksctlGroup = z.output<typeof group>;

/** Fields of a group that go over, or that mean nothing to a NodePool. */
export const CARRIED: readonly string[] = Object.keys(group.shape);
