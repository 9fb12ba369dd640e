import * as z from 'zod';
import { templateLabels } from '../../shared/api/node-pool.ts';
import {
  durationOrNever,
  NODE_POOL_KEYS,
  requirement,
  resourceList,
  taint,
} from '../../shared/api/schema/parts.ts';
import { checked } from './checked.ts';
import { awsFields } from './old-classes.ts';

/** The old APIs in which Karpenter describes pools of nodes, read as strictly as v1. */

const texts = z.record(z.string(), z.string());
const percent = z.int().min(0).max(100);
const requirements = z.array(requirement(NODE_POOL_KEYS)).max(100);
const taints = z.array(taint).max(100).optional();
const weight = z.int().min(1).max(100).optional();

const kubeletFields = {
  clusterDNS: z.array(z.string()).optional(),
  maxPods: z.int().min(0).optional(),
  podsPerCore: z.int().min(0).optional(),
  systemReserved: resourceList.optional(),
  kubeReserved: resourceList.optional(),
  evictionHard: texts.optional(),
  evictionSoft: texts.optional(),
  evictionSoftGracePeriod: texts.optional(),
  evictionMaxPodGracePeriod: z.int().min(0).optional(),
  imageGCHighThresholdPercent: percent.optional(),
  imageGCLowThresholdPercent: percent.optional(),
  cpuCFSQuota: z.boolean().optional(),
};

const reference = {
  apiVersion: z.string().optional(),
  kind: z.string().optional(),
  name: z.string().min(1),
};

const seconds = z.int().min(0).optional();

/** https://karpenter.sh/v0.31/concepts/provisioners/ */
const provisionerFields = z.strictObject({
  annotations: texts.optional(),
  labels: templateLabels.optional(),
  taints,
  startupTaints: taints,
  requirements: requirements.optional(),
  kubeletConfiguration: z
    .strictObject({
      ...kubeletFields,
      containerRuntime: z.enum(['containerd', 'dockerd']).optional(),
    })
    .optional(),
  provider: awsFields.optional(),
  providerRef: z.strictObject(reference).optional(),
  ttlSecondsAfterEmpty: seconds,
  ttlSecondsUntilExpired: seconds,
  limits: z.strictObject({ resources: resourceList.optional() }).optional(),
  weight,
  consolidation: z.strictObject({ enabled: z.boolean().optional() }).optional(),
});

const provisionerSpec = checked(
  provisionerFields,
  [
    "must have exactly one of ['provider', 'providerRef']",
    ({ provider, providerRef }) => (provider === undefined) !== (providerRef === undefined),
  ],
  [
    "must not have both of ['ttlSecondsAfterEmpty', 'consolidation.enabled']",
    ({ ttlSecondsAfterEmpty, consolidation }) =>
      ttlSecondsAfterEmpty === undefined || consolidation?.enabled !== true,
  ],
);

const budget = z.strictObject({
  nodes: z.string().optional(),
  schedule: z.string().optional(),
  duration: z.string().optional(),
});

const disruption = checked(
  z.strictObject({
    consolidationPolicy: z.enum(['WhenEmpty', 'WhenUnderutilized']).optional(),
    consolidateAfter: durationOrNever.optional(),
    expireAfter: durationOrNever.optional(),
    budgets: z.array(budget).max(50).optional(),
  }),
  [
    'consolidateAfter is required with consolidationPolicy WhenEmpty',
    ({ consolidationPolicy, consolidateAfter }) =>
      consolidationPolicy !== 'WhenEmpty' || consolidateAfter !== undefined,
  ],
  [
    'consolidateAfter can only be Never with consolidationPolicy WhenUnderutilized',
    ({ consolidationPolicy, consolidateAfter = 'Never' }) =>
      consolidationPolicy === 'WhenEmpty' || consolidateAfter === 'Never',
  ],
);

/** https://karpenter.sh/v0.37/concepts/nodepools/ */
const nodePoolSpec = z.strictObject({
  template: z.strictObject({
    metadata: z
      .strictObject({ labels: templateLabels.optional(), annotations: texts.optional() })
      .optional(),
    spec: z.strictObject({
      requirements,
      taints,
      startupTaints: taints,
      kubelet: z.strictObject(kubeletFields).optional(),
      nodeClassRef: z.strictObject(reference),
      resources: z.unknown().optional(),
    }),
  }),
  disruption: disruption.optional(),
  limits: resourceList.optional(),
  weight,
});

export const PROVISIONER = {
  apiVersion: 'karpenter.sh/v1alpha5',
  kind: 'Provisioner',
  spec: provisionerSpec,
} as const;

export const NODE_POOL_BETA = {
  apiVersion: 'karpenter.sh/v1beta1',
  kind: 'NodePool',
  spec: nodePoolSpec,
} as const;

export type ProvisionerSpec = z.output<typeof provisionerSpec>;
export type NodePoolBetaSpec = z.output<typeof nodePoolSpec>;
