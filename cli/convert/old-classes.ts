import * as z from 'zod';
import { tags } from '../../shared/api/ec2-node-class/instance-settings.ts';
import { quantity } from '../../shared/api/schema/parts.ts';

/** The old APIs in which Karpenter describes instances of AWS, read as strictly as v1. */

const texts = z.record(z.string(), z.string());

/** What the old API selects by: tags, and `aws-ids` and the like. */
const selector = texts
  .refine((map) => Object.keys(map).length > 0, { message: 'must name at least one tag or id' })
  .refine((map) => Object.entries(map).every(([key, value]) => key !== '' && value !== ''), {
    message: 'empty keys and values are not supported',
  });

const device = z.strictObject({
  deviceName: z.string().optional(),
  ebs: z
    .strictObject({
      deleteOnTermination: z.boolean().optional(),
      encrypted: z.boolean().optional(),
      iops: z.int().min(0).optional(),
      kmsKeyID: z.string().optional(),
      snapshotID: z.string().optional(),
      throughput: z.int().min(0).optional(),
      volumeSize: quantity.optional(),
      volumeType: z.string().optional(),
    })
    .optional(),
  rootVolume: z.boolean().optional(),
});

const metadataOptions = z.strictObject({
  httpEndpoint: z.enum(['enabled', 'disabled']).optional(),
  httpProtocolIPv6: z.enum(['enabled', 'disabled']).optional(),
  httpPutResponseHopLimit: z.int().min(1).max(64).optional(),
  httpTokens: z.enum(['required', 'optional']).optional(),
});

const instanceFields = {
  associatePublicIPAddress: z.boolean().optional(),
  blockDeviceMappings: z.array(device).optional(),
  context: z.string().optional(),
  instanceProfile: z.string().optional(),
  metadataOptions: metadataOptions.optional(),
  tags: tags.optional(),
};

const ALPHA_FAMILIES = [
  'AL2',
  'Bottlerocket',
  'Ubuntu',
  'Windows2019',
  'Windows2022',
  'Custom',
] as const;

/** What a Provisioner's `provider` and an AWSNodeTemplate both have. */
const alphaFields = {
  ...instanceFields,
  apiVersion: z.string().optional(),
  kind: z.string().optional(),
  amiFamily: z.enum(ALPHA_FAMILIES).optional(),
  launchTemplate: z.string().optional(),
  subnetSelector: selector.optional(),
  securityGroupSelector: selector.optional(),
};

/** https://karpenter.sh/v0.31/concepts/node-templates/ */
export const awsFields = z.strictObject(alphaFields);

const nodeTemplateSpec = z.strictObject({
  ...alphaFields,
  amiSelector: selector.optional(),
  detailedMonitoring: z.boolean().optional(),
  userData: z.string().optional(),
});

const term = { id: z.string().optional(), tags: texts.optional() };

/** https://karpenter.sh/v0.37/concepts/nodeclasses/ */
const nodeClassSpec = z.strictObject({
  ...instanceFields,
  amiFamily: z.enum([...ALPHA_FAMILIES, 'AL2023']),
  amiSelectorTerms: z
    .array(z.strictObject({ ...term, name: z.string().optional(), owner: z.string().optional() }))
    .optional(),
  detailedMonitoring: z.boolean().optional(),
  instanceStorePolicy: z.enum(['RAID0']).optional(),
  role: z.string().optional(),
  securityGroupSelectorTerms: z.array(z.strictObject({ ...term, name: z.string().optional() })),
  subnetSelectorTerms: z.array(z.strictObject(term)),
  userData: z.string().optional(),
});

export const NODE_TEMPLATE = {
  apiVersion: 'karpenter.k8s.aws/v1alpha1',
  kind: 'AWSNodeTemplate',
  spec: nodeTemplateSpec,
} as const;

export const NODE_CLASS_BETA = {
  apiVersion: 'karpenter.k8s.aws/v1beta1',
  kind: 'EC2NodeClass',
  spec: nodeClassSpec,
} as const;

export type NodeTemplateSpec = z.output<typeof nodeTemplateSpec>;
export type NodeClassBetaSpec = z.output<typeof nodeClassSpec>;
