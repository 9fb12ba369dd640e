import * as z from 'zod';
import { KUBELET_SPEC_FIELDS } from '../../../shared/core/launch/kubelet.ts';

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

/** Fields of kubelets that classes have; they are checked as those of the class. */
const kubelet = Object.fromEntries(KUBELET_SPEC_FIELDS.map((key) => [key, z.unknown().optional()]));

/** Fields of a group that go over, or that mean nothing to a NodePool. */
export const EKSCTL_GROUP = z.looseObject({
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
  /** Seconds. */
  maxInstanceLifetime: size.optional(),
  amiFamily: z.string().optional(),
  ami: z.string().optional(),
  /** Of managed groups: the release of EKS's image. */
  releaseVersion: z.string().optional(),
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
  kubeletExtraConfig: z.looseObject(kubelet).optional(),
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
  managedNodeGroups: z.array(EKSCTL_GROUP).optional(),
  nodeGroups: z.array(EKSCTL_GROUP).optional(),
});

export type ClusterConfig = z.output<typeof CLUSTER_CONFIG>;
export type EksctlGroup = z.output<typeof EKSCTL_GROUP>;
