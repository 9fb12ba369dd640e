import type * as z from 'zod';
import { CAPACITY_BUFFER_DEFINITION } from '../capacity-buffer.ts';
import { EC2_NODE_CLASS_DEFINITION } from '../ec2-node-class.ts';
import { NODE_CLAIM_DEFINITION } from '../node-claim.ts';
import { NODE_OVERLAY_DEFINITION } from '../node-overlay.ts';
import { NODE_POOL_DEFINITION } from '../node-pool.ts';
import { resourceOf } from '../resources.ts';
import { structuralSchema } from './structural.ts';

/** A column of `kubectl get`; a priority above 0 shows with `-o wide` only. */
interface Column {
  readonly name: string;
  readonly type: 'string' | 'integer' | 'date';
  readonly jsonPath: string;
  readonly priority?: number;
}

interface Kind {
  readonly apiVersion: string;
  readonly kind: string;
  readonly spec: z.ZodType;
  readonly status: z.ZodType;
}

/** What of a CRD is not in the schema and not in the resource. */
interface Names {
  readonly shortNames?: readonly string[];
  readonly category: string;
  readonly columns: readonly Column[];
  readonly scale?: { readonly specReplicasPath: string; readonly statusReplicasPath: string };
  /** Annotations that the API's owners ask of its CRD. */
  readonly annotations?: Readonly<Record<string, string>>;
}

function column(name: string, jsonPath: string, priority = 0): Column {
  const type = name === 'Age' ? 'date' : 'string';
  return { name, type, jsonPath, ...(priority > 0 ? { priority } : {}) };
}

const AGE = column('Age', '.metadata.creationTimestamp');
const READY = column('Ready', '.status.conditions[?(@.type=="Ready")].status');
const READINESS = 'ReadyForProvisioning';

const KINDS: readonly (readonly [Kind, Names])[] = [
  [
    NODE_POOL_DEFINITION,
    {
      category: 'karpenter',
      columns: [
        column('NodeClass', '.spec.template.spec.nodeClassRef.name'),
        { name: 'Nodes', type: 'integer', jsonPath: '.status.nodes' },
        READY,
        AGE,
        { name: 'Weight', type: 'integer', jsonPath: '.spec.weight', priority: 1 },
        column('CPU', '.status.resources.cpu', 1),
        column('Memory', '.status.resources.memory', 1),
      ],
      scale: { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.nodes' },
    },
  ],
  [
    NODE_CLAIM_DEFINITION,
    {
      category: 'karpenter',
      columns: [
        column('Type', '.metadata.labels.node\\.kubernetes\\.io/instance-type'),
        column('Capacity', '.metadata.labels.karpenter\\.sh/capacity-type'),
        column('Zone', '.metadata.labels.topology\\.kubernetes\\.io/zone'),
        column('Node', '.status.nodeName'),
        READY,
        AGE,
        column('ImageID', '.status.imageID', 1),
        column('ID', '.status.providerID', 1),
        column('NodePool', '.metadata.labels.karpenter\\.sh/nodepool', 1),
        column('NodeClass', '.spec.nodeClassRef.name', 1),
        column('Drifted', '.status.conditions[?(@.type=="Drifted")].status', 1),
      ],
    },
  ],
  [
    NODE_OVERLAY_DEFINITION,
    {
      shortNames: ['overlays'],
      category: 'karpenter',
      columns: [
        READY,
        AGE,
        { name: 'Weight', type: 'integer', jsonPath: '.spec.weight', priority: 1 },
      ],
    },
  ],
  [
    EC2_NODE_CLASS_DEFINITION,
    {
      shortNames: ['ec2nc', 'ec2ncs'],
      category: 'karpenter',
      columns: [READY, AGE, column('Role', '.spec.role', 1)],
    },
  ],
  [
    CAPACITY_BUFFER_DEFINITION,
    {
      shortNames: ['cb'],
      category: 'autoscaling',
      columns: [
        column('Strategy', '.spec.provisioningStrategy'),
        column('PodTemplate', '.spec.podTemplateRef.name'),
        { name: 'Replicas', type: 'integer', jsonPath: '.status.replicas' },
        column('ConditionsType', `.status.conditions[?(@.type=="${READINESS}")].type`),
        column('ConditionsStatus', `.status.conditions[?(@.type=="${READINESS}")].status`),
        column('ConditionsReason', `.status.conditions[?(@.type=="${READINESS}")].reason`),
        AGE,
      ],
      // Kubernetes keeps *.k8s.io groups to itself unless the CRD says that it was not reviewed.
      // https://github.com/kubernetes/enhancements/pull/1111
      annotations: {
        'api-approved.kubernetes.io': 'unapproved, the owner is the cluster autoscaler project',
      },
    },
  ],
];

export interface CustomResourceDefinition {
  readonly apiVersion: 'apiextensions.k8s.io/v1';
  readonly kind: 'CustomResourceDefinition';
  readonly metadata: {
    readonly name: string;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly spec: Readonly<Record<string, unknown>>;
}

/** The CRDs of all our kinds, generated from their schemas. */
export function customResourceDefinitions(): readonly CustomResourceDefinition[] {
  return KINDS.map(([kind, names]) => definition(kind, names));
}

function definition(kind: Kind, names: Names): CustomResourceDefinition {
  const resource = resourceOf(kind.apiVersion, kind.kind);
  if (resource === undefined) throw new Error(`${kind.kind} is not among the resources`);
  const { group, version, plural, namespaced } = resource;
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: {
      name: `${plural}.${group}`,
      ...(names.annotations === undefined ? {} : { annotations: names.annotations }),
    },
    spec: {
      group,
      names: {
        categories: [names.category],
        kind: kind.kind,
        listKind: `${kind.kind}List`,
        plural,
        ...(names.shortNames === undefined ? {} : { shortNames: names.shortNames }),
        singular: kind.kind.toLowerCase(),
      },
      scope: namespaced ? 'Namespaced' : 'Cluster',
      versions: [
        {
          name: version,
          served: true,
          storage: true,
          additionalPrinterColumns: names.columns,
          schema: { openAPIV3Schema: rootSchema(kind) },
          subresources: {
            status: {},
            ...(names.scale === undefined ? {} : { scale: names.scale }),
          },
        },
      ],
    },
  };
}

function rootSchema(kind: Kind) {
  return {
    type: 'object',
    required: ['spec'],
    properties: {
      apiVersion: { type: 'string' },
      kind: { type: 'string' },
      metadata: { type: 'object' },
      spec: structuralSchema(kind.spec),
      status: structuralSchema(kind.status),
    },
  };
}
